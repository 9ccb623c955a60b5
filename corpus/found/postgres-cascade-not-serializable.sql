-- level: SERIALIZABLE
-- source: txnfuzz
-- target: postgres:18
-- server_version: 18.4
-- kind: not-serializable
-- anomaly: read skew (G-single)
-- stmt: step 5, tx1: SELECT * FROM t2
-- expected: no rows
-- actual: (1)
-- reason: no serial order of the committed transactions gives these answers, run by the server itself one after the other; in the order of their ends (tx2, tx1) this is the first difference. What is promised: the committed transactions give what they give one after the other in some order (https://www.postgresql.org/docs/current/transaction-iso.html#XACT-SERIALIZABLE)
-- fingerprint: promise/not-serializable/wr cascade/SER
-- reproduced: 10/10
-- verdict (postgres 18, SER): known serializable-forgets-key-lookups

/* init */ CREATE TABLE t (a INT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (1);
/* init */ CREATE TABLE t2 (a INT, CONSTRAINT FOREIGN KEY (a) REFERENCES t(a) ON UPDATE CASCADE);
/* init */ INSERT INTO t2 VALUES (1);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ DELETE FROM t2;
/* tx1 */ UPDATE t SET a = 0;
/* tx1 */ SELECT * FROM t2;
/* tx1 */ COMMIT;
