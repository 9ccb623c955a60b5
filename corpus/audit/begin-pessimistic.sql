-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- note: BEGIN PESSIMISTIC is a text that TiDB alone reads
-- expected: ok on TiDB; elsewhere the server refuses the text
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR SER): unknown stale
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): unknown stale
-- verdict (mariadb 10.11, RU RC RR SER): unknown stale
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): unknown stale
-- verdict (mariadb 10.5, RU RC RR SER): unknown stale
-- verdict (mysql 9.7, RU RC RR SER): unknown stale
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): unknown stale
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE k (id INT PRIMARY KEY, n INT);
/* tx1 */ BEGIN PESSIMISTIC;
/* tx1 */ COMMIT;
