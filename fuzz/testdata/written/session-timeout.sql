-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx2 */ SET innodb_lock_wait_timeout = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET n = 12 WHERE id = 1;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
