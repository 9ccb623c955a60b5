-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: the first row's new key is a duplicate when its turn comes, and IGNORE leaves it as it is
-- expected: unknown; ok would be right, too

/* init */ CREATE TABLE t (id INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1), (2);
/* tx1 */ UPDATE IGNORE t SET id = id + 1;
