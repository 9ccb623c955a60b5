-- x-want: judged
-- x-not: tidb
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* init */ CREATE TABLE u AS SELECT * FROM t;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM u WHERE n = 1 FOR UPDATE;
/* tx2 */ UPDATE u SET n = 3 WHERE n = 2;
/* tx1 */ COMMIT;
