-- source: PostgreSQL's test read-write-unique-4: a duplicate key although no serial order has one
-- link: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/test/isolation/specs/read-write-unique-4.spec
-- status: Open: an error of a constraint in place of 40001
-- affected: all
-- reported: SERIALIZABLE
-- level: SERIALIZABLE
-- target: postgres:18
-- shows: all
-- observe: tx2.3
-- expected: error 40001
-- anomaly: error 23505
-- verdict (postgres 18, SER): ok
-- verdict (postgres 18.3, SER): ok
-- verdict (postgres 18.1, SER): ok
-- verdict (postgres 17, SER): ok
-- verdict (postgres 17.6, SER): ok
-- verdict (postgres 17.0, SER): ok
-- verdict (postgres 16, SER): ok
-- verdict (postgres 16.1, SER): ok
-- verdict (postgres 15, SER): ok
-- verdict (postgres 15.10, SER): ok
-- verdict (postgres 15.5, SER): ok
-- verdict (postgres 15.3, SER): ok
-- verdict (postgres 15.1, SER): ok
-- verdict (postgres 14, SER): ok
-- verdict (postgres 14.3, SER): ok
-- verdict (postgres 13, SER): ok
-- verdict (postgres 13.10, SER): ok
-- verdict (postgres 12, SER): ok
-- verdict (postgres 12.14, SER): ok
-- verdict (postgres 11, SER): ok
-- verdict (postgres 10, SER): ok
-- verdict (postgres 10.20, SER): ok

/* init */ CREATE TABLE invoice (y INT, n INT, PRIMARY KEY (y, n));
/* init */ INSERT INTO invoice VALUES (2016, 1), (2016, 2);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ SELECT MAX(n) FROM invoice WHERE y = 2016;
/* tx1 */ INSERT INTO invoice VALUES (2016, 3);
/* tx2 */ INSERT INTO invoice VALUES (2016, 3);   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
