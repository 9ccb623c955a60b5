-- source: a generated column is not computed again on the newest version of the row
-- link: https://www.postgresql.org/docs/release/15.3/
-- status: Fixed in 12.15, 13.11, 14.8, 15.3
-- affected: 12.0 to 12.14, 13.0 to 13.10, 14.0 to 14.7, 15.0 to 15.2
-- reported: READ COMMITTED
-- level: READ COMMITTED
-- target: postgres:15.1
-- shows: 12.14, 13.10, 14.3, 15.1
-- observe: tx2.3
-- expected: (1,850,1700)
-- anomaly: (1,850,800)
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
-- verdict (postgres 15.1, RC): violation wrong-rows
-- verdict (postgres 14, RC): ok
-- verdict (postgres 14.3, RC): violation wrong-rows
-- verdict (postgres 13, RC): ok
-- verdict (postgres 13.10, RC): violation wrong-rows
-- verdict (postgres 12, RC): ok
-- verdict (postgres 12.14, RC): violation wrong-rows

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL, c INT GENERATED ALWAYS AS (b * 2) STORED);
/* init */ INSERT INTO t (a, b) VALUES (1, 600);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = b - 200 WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = b + 450 WHERE a = 1;   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
