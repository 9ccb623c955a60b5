-- source: a range of ctid is not checked again on the newest version of the row
-- link: https://www.postgresql.org/docs/release/17.7/
-- status: Fixed in 13.23, 14.20, 15.15, 16.11, 17.7, 18.0
-- affected: 14 to 17.6
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:17.6
-- shows: 14.3, 15.1, 15.3, 15.5, 15.10, 16.1, 17.0, 17.6
-- observe: tx2.2
-- expected: no rows
-- anomaly: (1,900)
-- verdict (postgres 18, RC): ok
-- verdict (postgres 18.3, RC): ok
-- verdict (postgres 18.1, RC): ok
-- verdict (postgres 17, RC): ok
-- verdict (postgres 17.6, RC): violation wrong-count
-- verdict (postgres 17.0, RC): violation wrong-count
-- verdict (postgres 16, RC): ok
-- verdict (postgres 16.1, RC): violation wrong-count
-- verdict (postgres 15, RC): ok
-- verdict (postgres 15.10, RC): violation wrong-count
-- verdict (postgres 15.5, RC): violation wrong-count
-- verdict (postgres 15.3, RC): violation wrong-count
-- verdict (postgres 15.1, RC): violation wrong-count
-- verdict (postgres 14, RC): ok
-- verdict (postgres 14.3, RC): violation wrong-count
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
/* tx1 */ UPDATE t SET b = b + 100 WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ /* raw reads=t writes=t */ UPDATE t SET b = b + 200 WHERE ctid <= (SELECT MIN(x.ctid) FROM t AS x) RETURNING a, b;   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ SELECT * FROM t ORDER BY a;
