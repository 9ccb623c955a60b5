-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* init */ CREATE VIEW v AS SELECT id, n FROM t;
/* tx1 */ BEGIN;
/* tx1 */ UPDATE v SET n = 11 WHERE id = 1;
/* tx2 */ SELECT * FROM v FOR UPDATE;
/* tx1 */ COMMIT;
