-- source: https://bugs.mysql.com/bug.php?id=100293 (ReplBug, section 4.4)
-- reported: SERIALIZABLE
-- status: Fixed
-- note: MySQL 5.7 with the query cache on: the second SELECT came from the cache and locked nothing, so that the INSERT did not wait
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

/* init */ CREATE TABLE t (c1 INT);
/* init */ INSERT INTO t VALUES (1), (2);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ INSERT INTO t VALUES (3);
/* tx1 */ COMMIT;
