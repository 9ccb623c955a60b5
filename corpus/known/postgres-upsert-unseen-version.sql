-- source: PostgreSQL's test insert-conflict-do-update-3: an upsert changes a row by a version that its statement does not see
-- link: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/test/isolation/specs/insert-conflict-do-update-3.spec
-- status: Documented
-- affected: all
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:18
-- shows: all
-- observe: tx1.2
-- expected: (1,7,1) (2,0,0) (3,0,0)
-- anomaly: (1,0,0) (2,0,0) (3,0,0)
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
-- verdict (postgres 14, RC): unknown unsupported
-- verdict (postgres 14.3, RC): unknown unsupported
-- verdict (postgres 13, RC): unknown unsupported
-- verdict (postgres 13.10, RC): unknown unsupported
-- verdict (postgres 12, RC): unknown unsupported
-- verdict (postgres 12.14, RC): unknown unsupported
-- verdict (postgres 11, RC): unknown unsupported
-- verdict (postgres 10, RC): unknown unsupported
-- verdict (postgres 10.20, RC): unknown unsupported

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, active INT);
/* init */ INSERT INTO t VALUES (1, 0, 0), (2, 0, 0), (3, 0, 0);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET active = 1 WHERE a = 1;
/* tx1 */ /* raw reads=t writes=t */ WITH w AS (INSERT INTO t VALUES (1, 7, 1), (2, 8, 1) ON CONFLICT (a) DO UPDATE SET b = EXCLUDED.b WHERE t.active = 1) SELECT a, b, active FROM t ORDER BY a;   -- blocked
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t ORDER BY a;
/* tx1 */ COMMIT;
