-- source: bug 18103: MERGE inserts for a row that it should have deleted
-- link: https://www.postgresql.org/docs/release/15.5/
-- status: Fixed in 15.5, 16.1
-- affected: 15.0 to 15.4, 16.0
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:15.3
-- shows: 15.1, 15.3
-- observe: tx3.1
-- expected: no rows
-- anomaly: (2,700) (12,-1)
-- verdict (postgres 18, RC): unknown unsupported
-- verdict (postgres 18.3, RC): unknown unsupported
-- verdict (postgres 18.1, RC): unknown unsupported
-- verdict (postgres 17, RC): unknown unsupported
-- verdict (postgres 17.6, RC): unknown unsupported
-- verdict (postgres 17.0, RC): unknown unsupported
-- verdict (postgres 16, RC): unknown unsupported
-- verdict (postgres 16.1, RC): unknown unsupported
-- verdict (postgres 15, RC): unknown unsupported
-- verdict (postgres 15.10, RC): unknown unsupported
-- verdict (postgres 15.5, RC): unknown unsupported
-- verdict (postgres 15.3, RC): unknown unsupported
-- verdict (postgres 15.1, RC): unknown unsupported
-- verdict (postgres 14, RC): ok
-- verdict (postgres 14.3, RC): ok
-- verdict (postgres 13, RC): ok
-- verdict (postgres 13.10, RC): ok
-- verdict (postgres 12, RC): ok
-- verdict (postgres 12.14, RC): ok
-- verdict (postgres 11, RC): ok
-- verdict (postgres 10, RC): ok
-- verdict (postgres 10.20, RC): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 600), (2, 600);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = b + 100 WHERE a = 2;
/* tx2 */ BEGIN;
/* tx2 */ /* raw reads=t writes=t */ MERGE INTO t USING (SELECT 1 AS a UNION ALL SELECT 2) AS v ON v.a = t.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (v.a + 10, -1);   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ SELECT * FROM t ORDER BY a;
