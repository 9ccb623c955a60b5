-- dialect: postgres
-- level: READ COMMITTED
-- source: txnfuzz
-- target: postgres:18
-- server_version: 18.4
-- kind: wrong-rows
-- stmt: step 6, tx1: SELECT b FROM t
-- expected: (10)
-- actual: (11)
-- reason: run alone on its transaction's snapshot and its own writes, the server itself answers otherwise. What is promised: a transaction sees a snapshot as of the start of its first statement that is no transaction control, and its own writes; it cannot change or lock rows that others changed after it began (https://www.postgresql.org/docs/current/transaction-iso.html#XACT-REPEATABLE-READ)
-- note: shows wherever a transaction names modes that are not those of its session: READ ONLY and DEFERRABLE are lost, too. COMMIT AND CHAIN behind an error does the same. Behind an error that comes behind a savepoint, or if the failed transaction was begun by AND CHAIN itself, the modes stay
-- fingerprint: promise/wrong-rows/SELECT/RC
-- reproduced: 10/10
-- verdict (postgres 18, RC): violation wrong-rows
-- verdict (postgres 18.3, RC): violation wrong-rows
-- verdict (postgres 18.1, RC): violation wrong-rows
-- verdict (postgres 17, RC): violation wrong-rows
-- verdict (postgres 17.6, RC): violation wrong-rows
-- verdict (postgres 17.0, RC): violation wrong-rows
-- verdict (postgres 16, RC): violation wrong-rows
-- verdict (postgres 16.1, RC): violation wrong-rows
-- verdict (postgres 15, RC): violation wrong-rows
-- verdict (postgres 15.10, RC): violation wrong-rows
-- verdict (postgres 15.5, RC): violation wrong-rows
-- verdict (postgres 15.3, RC): violation wrong-rows
-- verdict (postgres 15.1, RC): violation wrong-rows
-- verdict (postgres 14, RC): violation wrong-rows
-- verdict (postgres 14.3, RC): violation wrong-rows
-- verdict (postgres 13, RC): violation wrong-rows
-- verdict (postgres 13.10, RC): violation wrong-rows
-- verdict (postgres 12, RC): violation wrong-rows
-- verdict (postgres 12.14, RC): violation wrong-rows
-- versions: not testable in 10.20 to 11.22; shows in 12.14 to 18.4

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN ISOLATION LEVEL REPEATABLE READ;
/* tx1 */ /* raw reads=t */ SELECT 1 / 0 FROM t;
/* tx1 */ ROLLBACK AND CHAIN;
/* tx1 */ SELECT b FROM t;
/* tx2 */ UPDATE t SET b = 11;
/* tx1 */ SELECT b FROM t;
/* tx1 */ COMMIT;
