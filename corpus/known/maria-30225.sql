-- source: https://jira.mariadb.org/browse/MDEV-30225
-- reported: REPEATABLE READ
-- status: Fixed
-- note: written after the description of the fix: a locking read by a unique key that waited for a row which was then deleted must keep others from inserting it
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR): ok
-- verdict (mariadb 11.8, SER): known record-gone-unseen
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC RR): ok
-- verdict (mariadb 10.11,snapshot=on, SER): known record-gone-unseen
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t (pk INT PRIMARY KEY, sk INT UNIQUE);
/* init */ INSERT INTO t VALUES (1, 100);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE sk = 100;
/* tx2 */ SELECT * FROM t WHERE sk = 100 FOR UPDATE;
/* tx1 */ COMMIT;
/* tx3 */ INSERT INTO t VALUES (2, 100);
/* tx2 */ SELECT * FROM t WHERE sk = 100 FOR UPDATE;
/* tx2 */ COMMIT;
