-- source: bug 18103: MERGE inserts for a row that it should have deleted
-- link: https://www.postgresql.org/docs/release/15.5/
-- status: Fixed in 15.5, 16.1
-- affected: 15.0 to 15.4, 16.0
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:15.3
-- shows: 15.1, 15.3, 18.1
-- observe: tx3.1
-- expected: no rows
-- anomaly: (2,700) (12,-1)
-- verdict (postgres 18, RC): ok
-- verdict (postgres 18.3, RC): ok
-- verdict (postgres 18.1, RC): violation wrong-rows
-- verdict (postgres 17, RC): ok
-- verdict (postgres 17.6, RC): ok
-- verdict (postgres 17.0, RC): ok
-- verdict (postgres 16, RC): ok
-- verdict (postgres 16.1, RC): ok
-- verdict (postgres 15, RC): ok
-- verdict (postgres 15.10, RC): ok
-- verdict (postgres 15.5, RC): ok
-- verdict (postgres 15.3, RC): violation wrong-rows
-- verdict (postgres 15.1, RC): violation wrong-rows

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 600), (2, 600);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = b + 100 WHERE a = 2;
/* tx2 */ BEGIN;
/* tx2 */ /* raw reads=t writes=t */ MERGE INTO t USING (VALUES (1), (2)) AS v(a) ON v.a = t.a WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (v.a + 10, -1);   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ SELECT * FROM t ORDER BY a;
