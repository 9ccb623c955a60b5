-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT, KEY k (n));
/* init */ CREATE TABLE u (id INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* init */ DROP TABLE u;
/* init */ ALTER TABLE t DROP KEY k;
/* init */ RENAME TABLE t TO s;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM s WHERE n = 1 FOR UPDATE;
/* tx2 */ UPDATE s SET n = 3 WHERE n = 2;
/* tx1 */ COMMIT;
