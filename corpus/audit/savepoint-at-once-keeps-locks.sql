-- source: found by txnfuzz against an honest server
-- seed: no, because it guards the judgement of one form of SQL
-- note: WITH CONSISTENT SNAPSHOT brings InnoDB into the transaction at every level, so ROLLBACK TO a savepoint set at once keeps the lock, and the deadlock is a true one
-- level: tx1=RC, tx2=RR
-- verdict (embedded, tx1=RC, tx2=RR): ok
-- verdict (mariadb 11.8, tx1=RC, tx2=RR): ok
-- verdict (mariadb 11.8,snapshot=off, tx1=RC, tx2=RR): ok
-- verdict (mariadb 10.11, tx1=RC, tx2=RR): ok
-- verdict (mariadb 10.11,snapshot=on, tx1=RC, tx2=RR): ok
-- verdict (mariadb 10.5, tx1=RC, tx2=RR): ok
-- verdict (mysql 9.7, tx1=RC, tx2=RR): ok
-- verdict (mysql 9.7,binlog=off, tx1=RC, tx2=RR): ok
-- verdict (tidb 2025-11, tx1=RC, tx2=RR): ok
-- verdict (tidb 2024-07, tx1=RC, tx2=RR): ok
-- verdict (postgres 18, tx1=RC, tx2=RR): unknown refused

/* init */ CREATE TABLE t (a INT DEFAULT 1, b SMALLINT DEFAULT 2 PRIMARY KEY, c INT);
/* init */ INSERT INTO t VALUES (-1, 1, 1), (-1, 2, NULL), (2, 3, 1), (3, 4, NULL);
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx1 */ SAVEPOINT s;
/* tx1 */ UPDATE t SET b = 8 WHERE b = 3;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 3;
/* tx1 */ ROLLBACK TO s;
/* tx1 */ SELECT * FROM t WHERE a > -1 FOR UPDATE;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
