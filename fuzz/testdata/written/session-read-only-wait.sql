-- x-want: judged
-- x-not: tidb
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ START TRANSACTION READ ONLY;
/* tx1 */ SELECT * FROM t WHERE id = 1 LOCK IN SHARE MODE;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx1 */ INSERT INTO t VALUES (3, 3);
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx1 */ INSERT INTO t VALUES (3, 3);
