-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- kind: missing-error
-- stmt: step 5, tx1: INSERT INTO t VALUES (10, 3)
-- expected: error 1062
-- actual: 1 affected
-- note: in 1 to 10 runs of a hundred. The UPDATE looks a row up by its key 3, locks the entry, and fails as a duplicate of the transaction's own row; TiDB gives the lock back behind the answer. Where the INSERT asks for it before that, the storage says that the transaction has it, without a look at the row: the INSERT succeeds although the key is there, the lock is given back, and COMMIT fails with error 1105, "pessimistic lock not found". With INSERT IGNORE in its place the storage of the built-in TiDB panicked once in 40 runs
-- fingerprint: known/commit-misses-lock-of-restarted-update/RC/failed-update
-- reproduced: 1/10
-- first_seen: 2026-11-29T00:26:27Z
-- input: seed 777, worker 0, input 7177, order 1
-- verdict (embedded, RC): known commit-misses-lock-of-restarted-update

/* init */ CREATE TABLE t (a INT, b INT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (5, 1), (5, 2), (-1, 3);
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE b IN (2, 5);
/* tx1 */ INSERT INTO t VALUES (5, -1);
/* tx1 */ UPDATE t SET b = -1 WHERE b = 3;
/* tx1 */ INSERT INTO t VALUES (10, 3);
/* tx1 */ COMMIT;
