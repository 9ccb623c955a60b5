-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- note: whether s = 'A' finds the row is decided by the server's variable collation_server, from which the table has its collation
-- expected: ok or unknown, whatever collation_server is
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

/* init */ CREATE TABLE k (s VARCHAR(10) UNIQUE);
/* init */ INSERT INTO k VALUES ('a');
/* tx1 */ SELECT * FROM k WHERE s = 'A';
