-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: the server closes the connection, which must not harm the next case
-- expected: unknown; ok would be right, too

/* init */ CREATE TABLE t (id INT PRIMARY KEY, b INT);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (1, 1);
/* tx1 */ ROLLBACK RELEASE;
/* tx2 */ SELECT * FROM t;
