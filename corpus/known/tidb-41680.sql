-- source: https://github.com/pingcap/tidb/issues/41680
-- reported: REPEATABLE READ
-- status: Open
-- note: a lost update, which REPEATABLE READ of TiDB and InnoDB allows
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

/* init */ CREATE TABLE t1 (k INT PRIMARY KEY, v INT);
/* init */ INSERT INTO t1 VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t1 WHERE k = 0;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t1 SET v = 2 WHERE k = 0;
/* tx1 */ UPDATE t1 SET v = 1 WHERE k = 0;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
/* tx3 */ SELECT * FROM t1;
