-- source: PostgreSQL's test delete-abort-savept: a row's lock is lost when a savepoint behind it is rolled back to
-- link: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/test/isolation/specs/delete-abort-savept.spec
-- status: Fixed in 9.3
-- affected: before 9.3
-- reported: READ COMMITTED
-- level: READ COMMITTED
-- target: postgres:18
-- shows: nowhere
-- observe: tx2.1 waits
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
/* tx1 */ SELECT * FROM t FOR UPDATE;
/* tx1 */ SAVEPOINT f;
/* tx1 */ UPDATE t SET b = 11;
/* tx1 */ ROLLBACK TO f;
/* tx2 */ UPDATE t SET b = 12;          -- blocked
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
