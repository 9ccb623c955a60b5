-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: TiDB looks for the row by its handle before it looks at any index
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

/* init */ CREATE TABLE t (id INT, b INT NOT NULL, n INT, UNIQUE KEY b (b), PRIMARY KEY (id));
/* init */ INSERT INTO t VALUES (1, 1, 0), (2, 2, 0);
/* tx1 */ INSERT INTO t VALUES (1, 2, 0) ON DUPLICATE KEY UPDATE n = 7;
/* tx2 */ SELECT * FROM t;
