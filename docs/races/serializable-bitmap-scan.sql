-- level: SERIALIZABLE
-- source: txnfuzz
-- target: postgres:10
-- server_version: 10.23
-- kind: not-serializable
-- stmt: step 4, tx1: SELECT k FROM t WHERE s = 1
-- expected: (5)
-- actual: no rows
-- hold: tx1 2 at btgetbitmap+0x0 of f2eef2d89ae4c6bdec0481f63f9c0bdfade03a1c hit 1 until tx2 4

/* init */ CREATE TABLE t (k INT PRIMARY KEY, s INT, KEY (s));
/* init */ CREATE TABLE r (k INT PRIMARY KEY, v INT);
/* init */ INSERT INTO r VALUES (1, 0);
/* tx2 */ BEGIN;
/* tx2 */ SELECT v FROM r WHERE k = 1;
/* tx1 */ BEGIN;
/* tx1 */ SELECT k FROM t WHERE s = 1;
/* tx2 */ INSERT INTO t VALUES (5, 1);
/* tx2 */ COMMIT;
/* tx1 */ UPDATE r SET v = 1 WHERE k = 1;
/* tx1 */ COMMIT;
