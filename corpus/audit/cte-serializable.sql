-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: SERIALIZABLE
-- note: a common table expression at SERIALIZABLE, where InnoDB locks what it reads
-- expected: ok or unknown
-- verdict (mariadb 11.8, SER): ok
-- verdict (mariadb 11.8,snapshot=off, SER): ok
-- verdict (mariadb 10.11, SER): ok
-- verdict (mariadb 10.11,snapshot=on, SER): ok
-- verdict (mariadb 10.5, SER): ok
-- verdict (mysql 9.7, SER): ok
-- verdict (mysql 9.7,binlog=off, SER): ok
-- verdict (postgres 18, SER): ok

/* init */ CREATE TABLE k (id INT PRIMARY KEY);
/* tx1 */ BEGIN;
/* tx1 */ WITH x AS (SELECT id FROM k) SELECT * FROM x;
/* tx1 */ COMMIT;
