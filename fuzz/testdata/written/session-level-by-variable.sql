-- x-want: judged
-- x-not: tidb
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ SET @@session.transaction_isolation = 'READ-COMMITTED';
/* tx2 */ SET SESSION tx_isolation = 'READ-UNCOMMITTED';
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx2 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET n = 12 WHERE id = 1;
/* tx1 */ COMMIT WORK;
/* tx1 */ SELECT * FROM t ORDER BY id ASC;
/* tx2 */ COMMIT WORK;
/* tx1 */ SELECT * FROM t ORDER BY id ASC;
