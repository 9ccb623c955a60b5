-- source: PostgreSQL's test multixact-no-forget: a row's lock is forgotten when an update of the row is rolled back
-- link: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/test/isolation/specs/multixact-no-forget.spec
-- status: Fixed in 9.3.2
-- affected: 9.3.0 to 9.3.1
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:18
-- shows: nowhere
-- observe: tx3.2 waits
-- expected: yes
-- anomaly: no
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
-- verdict (postgres 15.3, RC): ok
-- verdict (postgres 15.1, RC): ok
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
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx1 */ /* raw reads=t locks=share */ SELECT a, b FROM t FOR KEY SHARE;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 2;
/* tx2 */ ROLLBACK;
/* tx3 */ BEGIN;
/* tx3 */ SELECT * FROM t FOR UPDATE;   -- blocked
/* tx1 */ COMMIT;
/* tx3 */ COMMIT;
