-- level: SERIALIZABLE
-- source: txnfuzz
-- target: postgres:18
-- server_version: 18.4
-- kind: not-serializable
-- anomaly: write skew with a condition (G2)
-- stmt: step 2, tx1: INSERT IGNORE INTO t VALUES (0)
-- expected: 1 affected
-- actual: 0 affected
-- reason: no serial order of the committed transactions gives these answers, run by the server itself one after the other; in the order of their ends (tx2, tx1) this is the first difference. What is promised: the committed transactions give what they give one after the other in some order (https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE)
-- fingerprint: promise/not-serializable/rw upsert/SER
-- reproduced: 10/10
-- in the campaign: 10/10
-- verdict (postgres 18, SER): known serializable-forgets-key-lookups

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1), (0);
/* tx1 */ BEGIN;
/* tx1 */ INSERT IGNORE INTO t VALUES (0);
/* tx1 */ DELETE FROM t WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ DELETE FROM t WHERE a = 0;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
