-- source: MERGE updates a row that was changed behind the snapshot, and fails with no 40001
-- link: https://www.postgresql.org/docs/release/18.4/
-- status: Fixed in 15.18, 16.14, 17.10, 18.4
-- affected: 15.0 to 15.17, 16.0 to 16.13, 17.0 to 17.9, 18.0 to 18.3
-- reported: REPEATABLE READ, SERIALIZABLE
-- seed: no, because only PostgreSQL has what it is about
-- level: REPEATABLE READ
-- target: postgres:18.3
-- shows: 15.1, 15.3, 15.5, 15.10, 16.1, 17.0, 17.6, 18.1, 18.3
-- observe: tx2.3
-- expected: error 40001
-- anomaly: 1 affected
-- verdict (postgres 18, RR): ok
-- verdict (postgres 18.3, RR): violation lost-update
-- verdict (postgres 18.1, RR): violation lost-update
-- verdict (postgres 17, RR): ok
-- verdict (postgres 17.6, RR): violation lost-update
-- verdict (postgres 17.0, RR): violation lost-update
-- verdict (postgres 16, RR): ok
-- verdict (postgres 16.1, RR): violation lost-update
-- verdict (postgres 15, RR): ok
-- verdict (postgres 15.10, RR): violation lost-update
-- verdict (postgres 15.5, RR): violation lost-update
-- verdict (postgres 15.3, RR): violation lost-update
-- verdict (postgres 15.1, RR): violation lost-update

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10);
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET b = b + 1 WHERE a = 1;
/* tx2 */ /* raw reads=t writes=t */ MERGE INTO t USING (SELECT 1 AS a) AS s ON s.a = t.a WHEN MATCHED THEN UPDATE SET b = t.b + 100 WHEN NOT MATCHED THEN INSERT VALUES (s.a, 0);
/* tx2 */ COMMIT;
/* tx3 */ SELECT * FROM t;
