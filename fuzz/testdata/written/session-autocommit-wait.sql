-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ SET autocommit = 0;
/* tx2 */ SET autocommit = 0;
/* tx1 */ UPDATE t SET n = n + 1 WHERE id = 1;
/* tx2 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET n = n + 5 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx1 */ SELECT * FROM t;
/* tx2 */ ROLLBACK;
/* tx1 */ SELECT * FROM t FOR UPDATE;
/* tx2 */ UPDATE t SET n = 0;
/* tx1 */ SET autocommit = 1;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
