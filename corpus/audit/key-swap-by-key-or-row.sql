-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: two rows swap their keys behind the snapshot; tx1 deletes key 1. Told by key, key 2 is as in the snapshot; told by row, the row that was (2,2) is gone
-- expected: ok; with snapshot isolation tx1 gets error 1020
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

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 0 WHERE a = 1;
/* tx2 */ UPDATE t SET a = 1 WHERE a = 2;
/* tx2 */ UPDATE t SET a = 2 WHERE a = 0;
/* tx2 */ COMMIT;
/* tx1 */ DELETE FROM t WHERE a = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
