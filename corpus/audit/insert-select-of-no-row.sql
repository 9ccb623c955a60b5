-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: the column that the INSERT leaves out may be NULL
-- expected: ok

/* init */ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/* init */ CREATE TABLE s (a INT);
/* tx1 */ INSERT INTO t (k) SELECT a FROM s;
/* tx2 */ SELECT * FROM t;
