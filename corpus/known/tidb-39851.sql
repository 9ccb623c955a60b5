-- source: https://github.com/pingcap/tidb/issues/39851 (ReplBug)
-- reported: READ COMMITTED, REPEATABLE READ
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

/* init */ CREATE TABLE t (c1 INT, c2 INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT c1 FROM t WHERE c2 FOR UPDATE;
/* tx2 */ SELECT c1 FROM t WHERE c2 <= c1 FOR UPDATE;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
