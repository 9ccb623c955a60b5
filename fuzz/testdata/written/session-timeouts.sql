-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ SET SESSION innodb_lock_wait_timeout = 1;
/* tx2 */ SET innodb_lock_wait_timeout = 1;
/* tx1 */ SET SESSION lock_wait_timeout = 2;
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO t VALUES (5, 5);
/* tx1 */ SELECT * FROM t WHERE id = 5 FOR UPDATE;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
