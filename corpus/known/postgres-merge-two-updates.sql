-- source: MERGE takes a version for the newest one that is not, if the row was updated twice
-- link: https://www.postgresql.org/docs/release/17.7/
-- status: Fixed in 15.15, 16.11, 17.7, 18.0
-- affected: 15.0 to 15.14, 16.0 to 16.10, 17.0 to 17.6
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:17.6
-- shows: 17.0, 17.6
-- observe: tx3.1
-- expected: (1,140)
-- anomaly: (1,680)
-- verdict (postgres 18, RC): ok
-- verdict (postgres 18.3, RC): ok
-- verdict (postgres 18.1, RC): ok
-- verdict (postgres 17, RC): ok
-- verdict (postgres 17.6, RC): violation wrong-rows
-- verdict (postgres 17.0, RC): violation wrong-rows
-- verdict (postgres 16, RC): ok
-- verdict (postgres 16.1, RC): ok
-- verdict (postgres 15, RC): ok
-- verdict (postgres 15.10, RC): ok
-- verdict (postgres 15.5, RC): ok
-- verdict (postgres 15.3, RC): ok
-- verdict (postgres 15.1, RC): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 160);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = b + 10 WHERE a = 1;
/* tx1 */ UPDATE t SET b = b - 100 WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ /* raw reads=t writes=t */ MERGE INTO t USING (SELECT 1 AS a) AS s ON s.a = t.a WHEN MATCHED AND t.b < 0 THEN DELETE WHEN MATCHED AND t.b < 100 THEN UPDATE SET b = t.b * 2 WHEN MATCHED AND t.b < 200 THEN UPDATE SET b = t.b * 4 WHEN MATCHED AND t.b < 300 THEN UPDATE SET b = t.b * 8;   -- blocked
/* tx1 */ COMMIT;                       -- (1,70), so the second WHEN is the first that holds
/* tx2 */ COMMIT;
/* tx3 */ SELECT * FROM t;
