-- source: PostgreSQL's test read-write-unique: a duplicate key in place of 40001, although the transaction had looked
-- link: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/test/isolation/specs/read-write-unique.spec
-- status: Fixed in 9.6
-- affected: before 9.6
-- reported: SERIALIZABLE
-- level: SERIALIZABLE
-- target: postgres:18
-- shows: nowhere
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

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE a = 1;
/* tx2 */ SELECT * FROM t WHERE a = 1;
/* tx1 */ INSERT INTO t VALUES (1);
/* tx2 */ INSERT INTO t VALUES (1);     -- blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
