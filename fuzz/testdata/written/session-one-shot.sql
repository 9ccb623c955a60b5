-- x-want: judged
-- level: RR
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED; -- error 1568
/* tx1 */ COMMIT;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET n = 12 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx1 */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
/* tx1 */ COMMIT; -- forgets it
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET n = 13 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
