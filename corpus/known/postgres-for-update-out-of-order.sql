-- source: the manual, SELECT: rows that are locked and ordered come out of order
-- link: https://www.postgresql.org/docs/current/sql-select.html#SQL-FOR-UPDATE-SHARE
-- status: Documented
-- affected: all
-- reported: READ COMMITTED
-- level: READ COMMITTED
-- target: postgres:18
-- shows: all
-- observe: tx2.2
-- expected: (2,2) (1,3)
-- anomaly: (1,3) (2,2)
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
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 3 WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t ORDER BY b FOR UPDATE;   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
