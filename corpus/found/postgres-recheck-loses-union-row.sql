-- level: READ COMMITTED
-- source: txnfuzz
-- target: postgres:18
-- server_version: 18.4
-- kind: wrong-count
-- stmt: step 3, tx2: DELETE FROM t WHERE a IN (SELECT 1 UNION ALL SELECT 2)
-- expected: 1 affected
-- actual: 0 affected
-- reason: run alone on the newest committed rows and its own, the server itself answers otherwise. What is promised: a query sees only data committed before the query began; a write or locking read finds the rows that were committed when it began, and those for which it waited in their newest version, if they still match (https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED)
-- fingerprint: promise/wrong-count/DELETE/RC
-- reproduced: 10/10
-- also at: RU
-- verdict (postgres 18, RC): violation wrong-count

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (2, 0);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 1;
/* tx2 */ DELETE FROM t WHERE a IN (SELECT 1 UNION ALL SELECT 2);
/* tx1 */ COMMIT;
