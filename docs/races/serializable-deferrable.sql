-- level: SERIALIZABLE
-- dialect: postgres
-- source: txnfuzz
-- target: postgres:18
-- server_version: 18.4
-- kind: not-serializable
-- stmt: step 8, tx3: SELECT k, v FROM t ORDER BY k
-- expected: (1,1) (2,1)
-- actual: (1,0) (2,1)
-- note: the snapshot of tx3 is to be a safe one: it waits for tx1, and then takes it for safe
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
/* tx3 */ BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE;
/* tx3 */ SELECT k, v FROM t ORDER BY k;
/* tx1 */ COMMIT;
/* tx3 */ COMMIT;
