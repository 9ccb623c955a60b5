-- source: the manual, SELECT: LIMIT 1 FOR UPDATE returns nothing, although a row matches
-- link: https://www.postgresql.org/docs/current/sql-select.html#SQL-FOR-UPDATE-SHARE
-- status: Documented
-- affected: all
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:18
-- shows: all
-- observe: tx2.2
-- expected: (2,0)
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

/* init */ CREATE TABLE t (a INT PRIMARY KEY, done INT);
/* init */ INSERT INTO t VALUES (1, 0), (2, 0);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET done = 1 WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ /* raw reads=t locks=exclusive */ SELECT a, done FROM t WHERE done = 0 AND a = (SELECT MIN(x.a) FROM t AS x WHERE x.done = 0) FOR UPDATE;   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
