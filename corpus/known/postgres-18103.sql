-- source: bug 18103: MERGE checks the newest version of a row against the wrong row of the other table
-- link: https://www.postgresql.org/docs/release/15.5/
-- status: Fixed in 15.5, 16.1
-- affected: 15.0 to 15.4, 16.0
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:15.3
-- shows: 15.1, 15.3
-- observe: tx2.2
-- expected: 3 affected
-- anomaly: error 23505
-- verdict (postgres 18, RC): ok
-- verdict (postgres 18.3, RC): ok
-- verdict (postgres 18.1, RC): ok
-- verdict (postgres 17, RC): ok
-- verdict (postgres 17.6, RC): ok
-- verdict (postgres 17.0, RC): ok
-- verdict (postgres 16, RC): ok
-- verdict (postgres 16.1, RC): ok
-- verdict (postgres 15, RC): ok
-- verdict (postgres 15.10, RC): ok
-- verdict (postgres 15.5, RC): ok
-- verdict (postgres 15.3, RC): violation unexpected-error
-- verdict (postgres 15.1, RC): violation unexpected-error

/* init */ CREATE TABLE s (a INT PRIMARY KEY, n INT);
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO s VALUES (1, 10), (2, 20), (3, 30);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET b = 7 WHERE a = 2;
/* tx2 */ /* raw reads=s,t writes=t */ MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN UPDATE SET b = s.n WHEN NOT MATCHED THEN INSERT VALUES (s.a, s.n);   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
