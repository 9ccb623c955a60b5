-- source: https://jira.mariadb.org/browse/MDEV-40092
-- seed: no, because its descending key is not generated
-- reported: REPEATABLE READ, SERIALIZABLE
-- status: Confirmed
-- note: innodb_snapshot_isolation=ON: FOR UPDATE of rows deleted since the snapshot returns nothing instead of error 1020, because it goes by the secondary index, whose entries are marked deleted; so on 11.8.9, while 10.11 goes by the clustered index
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC): ok
-- verdict (mariadb 11.8, RR SER): known record-gone-unseen
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE t0 (c0 VARCHAR(100) UNIQUE NOT NULL, c1 INT NOT NULL, c2 VARCHAR(100) UNIQUE, PRIMARY KEY (c0, c1, c2), KEY ic0 (c2 DESC, c0, c1));
/* init */ INSERT INTO t0 VALUES ('', -1337292163, '');
/* init */ INSERT INTO t0 VALUES ('1064601816', 2103997766, 'u|');
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx1 */ DELETE FROM t0 WHERE TRUE;
/* tx2 */ SELECT t0.c0, t0.c1, t0.c2 FROM t0 WHERE TRUE FOR UPDATE;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
