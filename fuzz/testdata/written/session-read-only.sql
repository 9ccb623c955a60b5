-- x-want: judged
-- x-not: tidb
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ START TRANSACTION READ ONLY;
/* tx1 */ SELECT * FROM t;
/* tx1 */ SELECT * FROM t FOR UPDATE;
/* tx1 */ SELECT * FROM t LOCK IN SHARE MODE;
/* tx1 */ UPDATE t SET n = 1 WHERE id = 9;
/* tx1 */ INSERT INTO t VALUES (1, 1);
/* tx1 */ SELECT * FROM t WHERE id = 1 FOR UPDATE;
/* tx1 */ UPDATE t SET nn = 1;
/* tx1 */ COMMIT;
/* tx1 */ SET SESSION TRANSACTION READ ONLY;
/* tx1 */ DELETE FROM t WHERE id = 9;
/* tx1 */ START TRANSACTION READ WRITE;
/* tx1 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx1 */ SET TRANSACTION READ WRITE;
/* tx1 */ UPDATE t SET n = 12 WHERE id = 1;
/* tx1 */ UPDATE t SET n = 13 WHERE id = 1;
