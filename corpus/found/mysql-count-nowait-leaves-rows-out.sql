-- level: READ COMMITTED
-- source: txnfuzz
-- target: mysql:9.7
-- server_version: 9.7.4-2
-- kind: missing-wait
-- stmt: step 3, tx1: SELECT COUNT(*) FROM t FOR UPDATE NOWAIT
-- expected: error 3572
-- actual: (1)
-- explained: a COUNT of all rows that locks them counts in the storage engine, and stops at the row that is locked; the server takes what has been counted by then for the answer and does not look at the error. So the number depends on which row is locked, and no error tells that it is too small. With a WHERE, with SUM in place of COUNT, or without NOWAIT the answer is right.
-- link: https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked
-- fingerprint: missing-wait/RC/SELECT FOR UPDATE adds set-up
-- reproduced: 10/10
-- also at: RU, RR, SER
-- verdict (embedded, RC): ok
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): violation missing-wait
-- verdict (mysql 9.7,binlog=off, RC): violation missing-wait
-- verdict (tidb 2025-11, RC): ok
-- verdict (tidb 2024-07, RC): ok
-- verdict (postgres 18, RC): unknown refused

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1), (2);
/* tx2 */ BEGIN;
/* tx2 */ SELECT a FROM t WHERE a = 2 FOR UPDATE;
/* tx1 */ SELECT COUNT(*) FROM t FOR UPDATE NOWAIT;
/* tx2 */ COMMIT;
