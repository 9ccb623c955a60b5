-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mysql:9.7
-- server_version: 9.7.4-2
-- kind: non-repeatable-read
-- rules: rollback-to-renews-transaction
-- stmt: step 6, tx1: SELECT * FROM t
-- expected: (1,2)
-- actual: (1,5)
-- explained: the savepoint was set before the transaction read or wrote a table, when InnoDB was not yet part of it. ROLLBACK TO rolls back all of the transaction in storage engines that were not part of it at the savepoint; so InnoDB ends its transaction, gives its locks back and forgets the snapshot, and the next SELECT takes a new one.
-- link: https://dev.mysql.com/doc/refman/en/savepoint.html
-- fingerprint: known/rollback-to-renews-transaction/RR
-- reproduced: 10/10
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): known rollback-to-renews-transaction
-- verdict (mariadb 11.8,snapshot=off, RR): known rollback-to-renews-transaction
-- verdict (mariadb 10.11, RR): known rollback-to-renews-transaction
-- verdict (mariadb 10.11,snapshot=on, RR): known rollback-to-renews-transaction
-- verdict (mariadb 10.5, RR): known rollback-to-renews-transaction
-- verdict (mysql 9.7, RR): known rollback-to-renews-transaction
-- verdict (mysql 9.7,binlog=off, RR): known rollback-to-renews-transaction
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 2);
/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT x;
/* tx1 */ SELECT * FROM t;
/* tx1 */ ROLLBACK TO SAVEPOINT x;
/* tx2 */ UPDATE t SET b = 5;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
