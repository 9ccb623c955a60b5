-- source: https://github.com/pingcap/tidb/issues/42486
-- reported: REPEATABLE READ
-- status: Open
-- note: the pessimistic half: a DELETE of all rows meets the row inserted since BEGIN
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

/* init */ CREATE TABLE t1 (c0 INT);
/* init */ INSERT INTO t1 VALUES (1);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ INSERT INTO t1 (c0) VALUES (2);
/* tx1 */ COMMIT;
/* tx2 */ DELETE FROM t1;
/* tx2 */ COMMIT;
/* tx2 */ SELECT * FROM t1;
