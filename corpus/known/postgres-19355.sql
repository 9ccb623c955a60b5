-- source: bug 19355: a row of VALUES or of a subquery is not held beside the row that is checked again
-- link: https://www.postgresql.org/docs/release/18.2/
-- status: Fixed in 18.2
-- affected: 18.0 to 18.1
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:18.1
-- shows: 15.1, 15.3, 18.1
-- observe: tx3.1
-- expected: (1,610) (2,620)
-- anomaly: (0,-1) (1,610) (2,700)
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
/* tx2 */ /* raw reads=t writes=t */ MERGE INTO t USING (VALUES (1, 610), (2, 620)) AS v(a, n) ON v.a = t.a WHEN MATCHED THEN UPDATE SET b = v.n WHEN NOT MATCHED THEN INSERT VALUES (0, -1);   -- blocked
/* tx1 */ COMMIT;                       -- v.a = t.a still holds, so (2,700) is matched
/* tx2 */ COMMIT;
/* tx3 */ SELECT * FROM t ORDER BY a;
