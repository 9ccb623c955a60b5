-- level: READ COMMITTED
-- source: txnfuzz
-- target: postgres:18
-- server_version: 18.4
-- kind: missing-wait
-- stmt: step 6, tx2: SELECT * FROM t WHERE a = 1 FOR UPDATE
-- expected: a wait
-- actual: (1,10)
-- reason: the SELECT FOR UPDATE had to wait for the end of tx1's transaction
-- note: in ten runs of ten on a machine that does nothing else, else in three to six. FOR KEY SHARE of a row that was updated in place looks at the new version, too, and waits there for the transaction that has locked that. When this is rolled back, it looks at the old version again, which another transaction may have locked FOR UPDATE meanwhile. It takes any lock there, without an update, for one that does not stand in its way (heap_lock_tuple in heapam.c: HeapTupleHeaderIsOnlyLocked), and both transactions have the row
-- fingerprint: missing-wait/RC/SELECT FOR UPDATE waited
-- reproduced: 7/10
-- also at: RU, RR, SER
-- verdict (postgres 10, RC): violation missing-wait
-- verdict (postgres 11, RC): violation missing-wait
-- verdict (postgres 12, RC): violation missing-wait
-- verdict (postgres 13, RC): violation missing-wait
-- verdict (postgres 14, RC): violation missing-wait
-- verdict (postgres 15, RC): violation missing-wait
-- verdict (postgres 16, RC): violation missing-wait
-- verdict (postgres 17, RC): violation missing-wait
-- verdict (postgres 18, RC): violation missing-wait

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx3 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx3 */ SELECT * FROM t WHERE a = 1 FOR UPDATE;
/* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE;
/* tx1 */ /* raw reads=t locks=share */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE;
/* tx3 */ ROLLBACK;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
