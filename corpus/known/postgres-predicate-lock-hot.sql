-- source: PostgreSQL's test predicate-lock-hot-tuple: a conflict is lost, if the row was updated in its page
-- link: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/test/isolation/specs/predicate-lock-hot-tuple.spec
-- status: Fixed before 10
-- affected: before 10
-- reported: SERIALIZABLE
-- level: SERIALIZABLE
-- target: postgres:18
-- shows: nowhere
-- observe: tx2.4
-- expected: error 40001
-- anomaly: ok
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

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (5, 1), (7, 2), (11, 3);
/* init */ UPDATE t SET b = 20 WHERE a = 7;
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE a IN (5, 7);
/* tx2 */ SELECT * FROM t WHERE a IN (5, 7);
/* tx1 */ UPDATE t SET b = 21 WHERE a = 7;
/* tx2 */ UPDATE t SET b = 12 WHERE a = 5;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
