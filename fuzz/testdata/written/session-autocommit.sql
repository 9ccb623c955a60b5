-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ SET autocommit = 0;
/* tx1 */ SELECT 1;
/* tx1 */ SELECT * FROM t WHERE id = 1;
/* tx2 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t WHERE id = 1;
/* tx1 */ COMMIT;
/* tx1 */ UPDATE t SET n = 21 WHERE id = 2;
/* tx2 */ SELECT * FROM t WHERE id = 1;
/* tx1 */ SET autocommit = 1;
/* tx2 */ SELECT * FROM t;
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET n = 22 WHERE id = 2;
/* tx1 */ SET autocommit = 1; -- commits nothing
/* tx1 */ SET autocommit = 0;
/* tx1 */ ROLLBACK;
/* tx1 */ INSERT INTO t VALUES (1, 1);
/* tx1 */ INSERT INTO t VALUES (3, 1);
/* tx1 */ SAVEPOINT a;
/* tx2 */ SELECT * FROM t WHERE id = 1;
