-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- note: an engine without transactions: ROLLBACK keeps the row
-- expected: unknown
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR SER): unknown engine
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): unknown engine
-- verdict (mariadb 10.11, RU RC RR SER): unknown engine
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): unknown engine
-- verdict (mariadb 10.5, RU RC RR SER): unknown engine
-- verdict (mysql 9.7, RU RC RR SER): unknown engine
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): unknown engine
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE k (id INT PRIMARY KEY) ENGINE = MyISAM;
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO k VALUES (1);
/* tx2 */ SELECT * FROM k;
/* tx1 */ ROLLBACK;
