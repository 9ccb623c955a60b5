-- x-want: judged
-- x-not: tidb
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
/* tx1 */ START TRANSACTION;
/* tx1 */ SELECT * FROM t WHERE id = 1;
/* tx2 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx1 */ START TRANSACTION;
/* tx1 */ SELECT * FROM t WHERE id = 1;
/* tx2 */ UPDATE t SET n = 12 WHERE id = 1;
/* tx1 */ SELECT * FROM t WHERE id = 1;
/* tx1 */ COMMIT;
