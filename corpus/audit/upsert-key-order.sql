-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: an upsert that meets several unique keys: the server looks at those without NULLs first, and at those of whole columns before those of a column's first characters
-- expected: ok
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): unknown refused

/* init */ CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT NOT NULL, n INT, UNIQUE KEY a (a), UNIQUE KEY b (b));
/* init */ INSERT INTO t VALUES (1, 1, 1, 0), (2, 2, 2, 0);
/* init */ CREATE TABLE u (a INT NOT NULL, b VARCHAR(5) NOT NULL, n INT, UNIQUE KEY b (b(2)), UNIQUE KEY a (a));
/* init */ INSERT INTO u VALUES (1, 'p', 0), (2, 'q', 0);
/* tx1 */ INSERT INTO t VALUES (9, 1, 2, 0) ON DUPLICATE KEY UPDATE n = 7;
/* tx1 */ INSERT INTO u VALUES (1, 'q', 5) ON DUPLICATE KEY UPDATE n = 9;
/* tx2 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM u;
