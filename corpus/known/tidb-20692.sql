-- source: https://github.com/pingcap/tidb/issues/20692 (ReplBug)
-- reported: READ COMMITTED, REPEATABLE READ
-- note: three sessions around one unique key
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

/* init */ CREATE TABLE t (id INT PRIMARY KEY, v INT, vv INT, vvv INT, UNIQUE KEY u0 (id, v, vv));
/* init */ INSERT INTO t VALUES (1, 1, 1, 1);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE id = 1 AND v = 1 AND vv = 1;
/* tx2 */ INSERT INTO t VALUES (1, 2, 3, 4);
/* tx3 */ UPDATE t SET id = 10, v = 20, vv = 30, vvv = 40 WHERE id = 1 AND v = 2 AND vv = 3;
/* tx1 */ COMMIT;
/* tx3 */ COMMIT;
/* tx2 */ COMMIT;
