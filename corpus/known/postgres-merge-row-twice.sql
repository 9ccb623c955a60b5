-- source: MERGE updates a row twice without an error, if the row was updated by another transaction
-- link: https://www.postgresql.org/docs/release/16.3/
-- status: Fixed in 15.7, 16.3
-- affected: 15.0 to 15.6, 16.0 to 16.2
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:16.1
-- shows: 15.1, 15.3, 15.5, 16.1
-- observe: tx2.2
-- expected: error 21000
-- anomaly: 1 affected
-- verdict (postgres 18, RC): ok
-- verdict (postgres 18.3, RC): ok
-- verdict (postgres 18.1, RC): ok
-- verdict (postgres 17, RC): ok
-- verdict (postgres 17.6, RC): ok
-- verdict (postgres 17.0, RC): ok
-- verdict (postgres 16, RC): ok
-- verdict (postgres 16.1, RC): violation missing-error
-- verdict (postgres 15, RC): ok
-- verdict (postgres 15.10, RC): ok
-- verdict (postgres 15.5, RC): violation missing-error
-- verdict (postgres 15.3, RC): violation missing-error
-- verdict (postgres 15.1, RC): violation missing-error

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = b + 1 WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ /* raw reads=t writes=t */ MERGE INTO t USING (VALUES (1, 100), (1, 200)) AS s(a, n) ON s.a = t.a WHEN MATCHED THEN UPDATE SET b = t.b + s.n;   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ ROLLBACK;
