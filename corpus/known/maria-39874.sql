-- source: https://jira.mariadb.org/browse/MDEV-39874
-- seed: no, because DEFAULT as a value is not generated
-- reported: READ UNCOMMITTED, READ COMMITTED
-- status: Confirmed
-- note: a deadlock at one level that the other does not have
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU): known semi-consistent-read-uncommitted
-- verdict (mariadb 11.8, RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU): known semi-consistent-read-uncommitted
-- verdict (mariadb 10.11,snapshot=on, RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t0 (c0 BOOLEAN UNIQUE, c1 DOUBLE NOT NULL, c2 BIGINT, c3 VARCHAR(100) UNIQUE NOT NULL, KEY ic0 (c2, c0, c3 DESC, c1));
/* init */ INSERT INTO t0 VALUES (NULL, 0.71535, 807633510, '');
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ DELETE FROM t0 WHERE TRUE;
/* tx2 */ INSERT INTO t0 VALUES (1, 0.12098, 1600742384, '0.5007103978381064');
/* tx1 */ SELECT t0.c3, t0.c0 FROM t0 WHERE TRUE LOCK IN SHARE MODE;
/* tx2 */ UPDATE t0 SET c2 = DEFAULT, c0 = DEFAULT WHERE TRUE;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
