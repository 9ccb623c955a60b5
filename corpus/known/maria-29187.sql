-- source: https://jira.mariadb.org/browse/MDEV-29187 (ReplBug)
-- reported: READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ, SERIALIZABLE
-- note: a deadlock of two, which went unreported in the server's monitor
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t1 (id INT PRIMARY KEY, f1 INT);
/* init */ INSERT INTO t1 VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t1 SET f1 = 3 WHERE id = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t1 SET f1 = 4 WHERE id = 2;
/* tx1 */ UPDATE t1 SET f1 = 3 WHERE id = 2;
/* tx2 */ UPDATE t1 SET f1 = 5 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
