-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mariadb:10.11
-- seed: 2
-- server_version: 10.11.18-MariaDB-0+deb12u1
-- kind: unexpected-error
-- stmt: step 3, tx1: SELECT * FROM t WHERE b > 5 AND b * 4 > 5
-- expected: no rows
-- actual: error 1690 (BIGINT value is out of range in '`t`.`b` * 4')
-- reason: nothing in the rows that the SELECT sees makes it fail
-- note: the pushed index condition is evaluated on the index entry of a row that the transaction itself has deleted, and the SELECT fails with its error; a consistent read sees the changes of its own transaction (https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html). MySQL does the same only while another transaction is open that has written; why a condition is evaluated on index entries: https://dev.mysql.com/doc/refman/en/index-condition-pushdown-optimization.html
-- fingerprint: known/index-condition-judges-unseen-rows/RR
-- reproduced: 10/10
-- verdict (embedded, RR): known filter-judges-overwritten-rows
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (mariadb 11.8, RR): known index-condition-judges-unseen-rows
-- verdict (mariadb 11.8,snapshot=off, RR): known index-condition-judges-unseen-rows
-- verdict (mariadb 10.11, RR): known index-condition-judges-unseen-rows
-- verdict (mariadb 10.11,snapshot=on, RR): known index-condition-judges-unseen-rows
-- verdict (mariadb 10.5, RR): known index-condition-judges-unseen-rows
-- verdict (tidb 2025-11, RR): known filter-judges-overwritten-rows
-- verdict (tidb 2024-07, RR): known filter-judges-overwritten-rows
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT, b BIGINT, INDEX k1(b));
/* init */ INSERT INTO t VALUES (0, 9223372036854775807), (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t;
/* tx1 */ SELECT * FROM t WHERE b > 5 AND b * 4 > 5;
/* tx1 */ COMMIT;
