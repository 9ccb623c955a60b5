-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- note: TiDB converts the text with CAST where the UPDATE looks a row up by its whole key, which fails with 1292; every other plan, and every other server, rounds
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

/* init */ CREATE TABLE w (id INT PRIMARY KEY, i INT);
/* init */ INSERT INTO w VALUES (1, 1), (2, 2);
/* tx1 */ UPDATE w SET i = '3.5' WHERE id = 2;
