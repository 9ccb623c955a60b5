-- source: the manual, 13.2.1: ON CONFLICT DO NOTHING returns no row, and no SELECT of the same statement sees one
-- link: https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
-- status: Documented
-- affected: all
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:18
-- shows: all
-- observe: tx2.1
-- expected: (1,10)
-- anomaly: no rows
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

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (1, 10);
/* tx2 */ /* raw reads=t writes=t */ WITH i AS (INSERT INTO t VALUES (1, 20) ON CONFLICT (a) DO NOTHING RETURNING a, b) SELECT a, b FROM i UNION ALL SELECT a, b FROM t WHERE a = 1;   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
