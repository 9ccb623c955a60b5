-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: with snapshot isolation tx3 gets error 1020: tx2 has committed a change behind tx3's snapshot; that tx1 goes on waiting or writing does not matter
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
-- verdict (postgres 18, RR): unknown refused

/* init */ CREATE TABLE t (a INT, b INT, UNIQUE KEY k0 (b));
/* init */ INSERT INTO t VALUES (10,3), (0,10);
/* tx2 */ BEGIN;
/* tx3 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ UPDATE t SET a = 3;
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 3;
/* tx2 */ COMMIT;
/* tx3 */ UPDATE t SET a = 0;
/* tx1 */ COMMIT;
/* tx3 */ COMMIT;
