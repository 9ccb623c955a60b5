-- source: COMMIT AND CHAIN with a savepoint: the next transaction is not at the level of the last
-- link: https://www.postgresql.org/docs/release/13.13/
-- status: Fixed in 12.17, 13.13, 14.10
-- affected: 12.0 to 12.16, 13.0 to 13.12, 14.0 to 14.9
-- reported: REPEATABLE READ
-- seed: no, because only PostgreSQL has what it is about
-- level: REPEATABLE READ
-- target: postgres:14.3
-- shows: 12.14, 13.10, 14.3
-- observe: tx1.5
-- expected: (1,10)
-- anomaly: (1,11)
-- verdict (postgres 18, RR): ok
-- verdict (postgres 18.3, RR): ok
-- verdict (postgres 18.1, RR): ok
-- verdict (postgres 17, RR): ok
-- verdict (postgres 17.6, RR): ok
-- verdict (postgres 17.0, RR): ok
-- verdict (postgres 16, RR): ok
-- verdict (postgres 16.1, RR): ok
-- verdict (postgres 15, RR): ok
-- verdict (postgres 15.10, RR): ok
-- verdict (postgres 15.5, RR): ok
-- verdict (postgres 15.3, RR): ok
-- verdict (postgres 15.1, RR): ok
-- verdict (postgres 14, RR): ok
-- verdict (postgres 14.3, RR): violation wrong-rows
-- verdict (postgres 13, RR): ok
-- verdict (postgres 13.10, RR): violation wrong-rows
-- verdict (postgres 12, RR): ok
-- verdict (postgres 12.14, RR): violation wrong-rows

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT s;
/* tx1 */ COMMIT AND CHAIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET b = 11;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
