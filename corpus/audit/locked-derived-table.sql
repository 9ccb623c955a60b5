-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- note: FOR UPDATE does not reach into a derived table; TiDB#60281
-- expected: known locked-derived-table-reads-newest on TiDB at REPEATABLE READ; ok or unknown elsewhere
-- verdict (embedded, RC RR): known locked-derived-table-reads-newest
-- verdict (mariadb 11.8, RU): unknown unsupported
-- verdict (mariadb 11.8, RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU): unknown unsupported
-- verdict (mariadb 11.8,snapshot=off, RC RR SER): ok
-- verdict (mariadb 10.11, RU): unknown unsupported
-- verdict (mariadb 10.11, RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU): unknown unsupported
-- verdict (mariadb 10.11,snapshot=on, RC RR SER): ok
-- verdict (mariadb 10.5, RU): unknown unsupported
-- verdict (mariadb 10.5, RC RR SER): ok
-- verdict (mysql 9.7, RU): unknown unsupported
-- verdict (mysql 9.7, RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU): unknown unsupported
-- verdict (mysql 9.7,binlog=off, RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): known locked-derived-table-reads-newest
-- verdict (tidb 2024-07, RC RR): known locked-derived-table-reads-newest
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE tt (a INT PRIMARY KEY, b INT, c VARCHAR(255));
/* init */ INSERT INTO tt VALUES (1, 11, 'snapshot'), (2, 12, 'snapshot');
/* tx1 */ BEGIN;
/* tx1 */ UPDATE tt SET c = 'latest' WHERE b = 11;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM (SELECT * FROM tt WHERE b = 11) AS t FOR UPDATE;
/* tx2 */ SELECT * FROM (SELECT * FROM tt WHERE a = 1) AS t FOR UPDATE;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
