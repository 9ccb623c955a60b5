-- level: SERIALIZABLE
-- source: txnfuzz
-- target: postgres:18
-- server_version: 18.4
-- kind: not-serializable
-- stmt: step 10, tx3: SELECT v FROM t WHERE k = 1
-- expected: (1)
-- actual: (0)
-- note: tx3 comes behind tx2, whose change it sees, and before tx1, whose change it does not see; tx1 comes before tx2, whose change it did not see
-- reproduced: 10/10
-- hold: tx2 3 at ReleasePredicateLocks+0x0 of d3a31edfd6c6b2c9cac9d3e0f99f18fb46e336bc hit 1 until tx1 4

/* init */ CREATE TABLE t (k INT PRIMARY KEY, v INT);
/* init */ INSERT INTO t VALUES (1, 0), (2, 0);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET v = 1 WHERE k = 1;
/* tx1 */ SELECT v FROM t WHERE k = 2;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET v = 1 WHERE k = 2;
/* tx2 */ COMMIT;
/* tx3 */ BEGIN;
/* tx3 */ SELECT v FROM t WHERE k = 2;
/* tx1 */ COMMIT;
/* tx3 */ SELECT v FROM t WHERE k = 1;
/* tx3 */ COMMIT;
