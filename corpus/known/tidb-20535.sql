-- source: https://github.com/pingcap/tidb/issues/20535 (ReplBug)
-- reported: READ COMMITTED, REPEATABLE READ
-- note: a row deleted through a part of its key, inserted again by another session
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

/* init */ CREATE TABLE t2 (k INT, kk INT, val INT, PRIMARY KEY (k, kk));
/* init */ INSERT INTO t2 VALUES (1, 1, 1);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ DELETE FROM t2 WHERE k = 1;
/* tx2 */ INSERT INTO t2 VALUES (1, 1, 2);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
