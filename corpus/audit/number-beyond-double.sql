-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: TiDB says that the text is incorrect, others that it is out of range
-- expected: ok; unknown on TiDB

/* init */ CREATE TABLE t (id INT PRIMARY KEY, b DOUBLE);
/* tx1 */ INSERT INTO t VALUES (3, '1e400');
