-- source: Jepsen, PostgreSQL 12.3: a conflict is lost, if a third transaction has updated the new row (G2-item)
-- link: https://jepsen.io/analyses/postgresql-12.3
-- status: Fixed in 9.5.23, 9.6.19, 10.14, 11.9, 12.4
-- affected: 9.1 to 12.3
-- reported: SERIALIZABLE
-- level: SERIALIZABLE
-- target: postgres:18
-- shows: nowhere
-- observe: tx2.3
-- expected: error 40001
-- anomaly: no rows
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
/* init */ CREATE TABLE u (a INT PRIMARY KEY, b INT);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx3 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE a = 42;
/* tx2 */ INSERT INTO t VALUES (42, 1);
/* tx1 */ INSERT INTO u VALUES (7, 1);
/* tx1 */ COMMIT;
/* tx3 */ UPDATE u SET b = 2 WHERE a = 7;
/* tx2 */ SELECT * FROM u WHERE a = 7;
/* tx2 */ COMMIT;
/* tx3 */ ROLLBACK;
