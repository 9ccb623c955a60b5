-- level: SERIALIZABLE
-- source: txnfuzz
-- target: postgres:18
-- server_version: 18.4
-- kind: not-serializable
-- anomaly: read skew (G-single)
-- stmt: step 5, tx2: SELECT * FROM p
-- expected: (1,NULL,1) (2,1,9)
-- actual: (1,1,0) (2,1,9)
-- reason: no serial order of the committed transactions gives these answers, run by the server itself one after the other; in the order of their ends (tx1, tx2) this is the first difference. What is promised: the committed transactions give what they give one after the other in some order (https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE)
-- fingerprint: promise/not-serializable/wr upsert/SER
-- reproduced: 10/10
-- verdict (postgres 18, SER): known serializable-forgets-key-lookups

/* init */ CREATE TABLE p (id INT PRIMARY KEY, u INT UNIQUE KEY, v INT);
/* init */ INSERT INTO p VALUES (1, 1, 0);
/* tx1 */ BEGIN;
/* tx1 */ /* raw reads=p writes=p */ INSERT INTO p VALUES (1, NULL, 0) ON CONFLICT (id) DO UPDATE SET v = p.v + 1, u = EXCLUDED.u;
/* tx2 */ BEGIN;
/* tx2 */ /* raw reads=p writes=p */ INSERT INTO p VALUES (2, 1, 9) ON CONFLICT (id) DO UPDATE SET v = p.v + 1, u = EXCLUDED.u;
/* tx2 */ SELECT * FROM p;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
