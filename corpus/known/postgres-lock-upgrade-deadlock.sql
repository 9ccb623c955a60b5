-- source: PostgreSQL's test tuplelock-upgrade-no-deadlock: who makes a lock stronger deadlocks with who waits for it
-- link: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/test/isolation/specs/tuplelock-upgrade-no-deadlock.spec
-- status: Fixed in 9.6.15, 10.10, 11.5, 12.0
-- affected: before these
-- reported: READ COMMITTED
-- level: READ COMMITTED
-- target: postgres:18
-- shows: nowhere
-- observe: tx3.3
-- expected: (1,10)
-- anomaly: error 40P01
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
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE;
/* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE;   -- blocked
/* tx3 */ SELECT * FROM t WHERE a = 1 FOR SHARE;
/* tx3 */ SELECT * FROM t WHERE a = 1 FOR UPDATE;   -- blocked by tx1, and not by tx2, which came first
/* tx1 */ ROLLBACK;
/* tx3 */ ROLLBACK;
/* tx2 */ ROLLBACK;
