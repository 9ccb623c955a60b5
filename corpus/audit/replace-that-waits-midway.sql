-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- note: tx1's REPLACE waits for the entry of 'ab' when it has put its row in the place of 'c', which a reader of uncommitted data sees
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
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE t (a VARCHAR(10) NOT NULL UNIQUE KEY, b INT PRIMARY KEY, c INT);
/* init */ INSERT INTO t VALUES ('c', 3, 0), ('ab', 4, 0);
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET c = 1 WHERE a = 'ab';
/* tx1 */ REPLACE INTO t VALUES ('ab', 3, 7);
/* tx3 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx3 */ SELECT * FROM t;
