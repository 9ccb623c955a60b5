-- source: found by txnfuzz in a soak
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: the subquery is answered from the snapshot, the joined tables are locked and read as they are now; with snapshot isolation MariaDB refuses the changed row with 1020
-- expected: ok
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT);
/* init */ CREATE TABLE t2 (a INT);
/* init */ INSERT INTO t VALUES (0);
/* init */ INSERT INTO t2 VALUES (3);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET a = 5;
/* tx2 */ UPDATE t2 SET a = 9;
/* tx1 */ SELECT * FROM t JOIN t AS y WHERE t.a > (SELECT t2.a FROM t2) LOCK IN SHARE MODE;
