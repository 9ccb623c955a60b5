-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ SET autocommit = OFF;
/* tx2 */ SET @@session.autocommit = 0;
/* tx1 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET n = 21 WHERE id = 2;
/* tx1 */ UPDATE t SET n = 22 WHERE id = 2;
/* tx2 */ UPDATE t SET n = 12 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx2 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
