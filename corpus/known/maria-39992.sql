-- source: https://jira.mariadb.org/browse/MDEV-39992
-- reported: SERIALIZABLE
-- status: Confirmed
-- note: innodb_snapshot_isolation=ON: which of two waiting reads of a deleted row is resumed differs from REPEATABLE READ
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR): ok
-- verdict (mariadb 11.8, SER): known record-gone-unseen
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t0 (c0 MEDIUMINT PRIMARY KEY NOT NULL, c1 VARCHAR(100) NOT NULL, KEY ic0 (c1));
/* init */ INSERT INTO t0 VALUES (1, '');
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ DELETE FROM t0 WHERE TRUE;
/* tx2 */ SELECT c0 FROM t0 WHERE TRUE FOR UPDATE;
/* tx3 */ SELECT c0 FROM t0 WHERE TRUE FOR UPDATE;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ COMMIT;
