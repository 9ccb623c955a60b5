-- x-want: unknown
-- level: RR
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ BEGIN; -- MySQL keeps the level, MariaDB 11.8 does not
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
