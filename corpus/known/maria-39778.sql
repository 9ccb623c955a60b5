-- source: https://jira.mariadb.org/browse/MDEV-39778
-- reported: SERIALIZABLE
-- status: Not a bug
-- note: innodb_snapshot_isolation=ON: error 1020 instead of a serial order
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

/* init */ CREATE TABLE t0 (c0 INT, c1 INT, c2 INT PRIMARY KEY);
/* init */ INSERT INTO t0 VALUES (-1, 0, 1), (2, 3, 4);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t0 SET c0 = 6 WHERE 4;
/* tx2 */ UPDATE t0 SET c2 = 2 WHERE c2 = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
