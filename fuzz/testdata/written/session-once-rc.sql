-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ SET @@transaction_isolation = 'READ-COMMITTED';
/* tx1 */ START TRANSACTION;
/* tx1 */ SELECT * FROM t;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx1 */ UPDATE t SET n = n + 1;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
