-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- note: tx1 changes the row but not its entry in the unique index, which is all that INSERT IGNORE looks at
-- expected: ok
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

/* init */ CREATE TABLE t (a INT, b INT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 1;
/* tx2 */ INSERT IGNORE INTO t VALUES (0, 0);
/* tx1 */ COMMIT;
