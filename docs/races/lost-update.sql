-- level: REPEATABLE READ

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 0), (2, 0);
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx1 */ SELECT b FROM t WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 10 WHERE a = 1;
/* tx1 */ UPDATE t SET b = 20 WHERE a = 1;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
