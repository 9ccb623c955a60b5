-- source: PostgreSQL's test propagate-lock-delete: a DELETE passes over the lock of a foreign key's check
-- link: https://github.com/postgres/postgres/blob/REL_18_STABLE/src/test/isolation/specs/propagate-lock-delete.spec
-- status: Fixed in 9.3.2
-- affected: 9.3.0 to 9.3.1
-- reported: READ COMMITTED
-- level: READ COMMITTED
-- target: postgres:18
-- shows: nowhere
-- observe: tx3.3
-- expected: error 23503
-- anomaly: 1 affected
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

/* init */ CREATE TABLE p (i INT PRIMARY KEY, c INT);
/* init */ CREATE TABLE k (a INT PRIMARY KEY, i INT, FOREIGN KEY (i) REFERENCES p (i));
/* init */ INSERT INTO p VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO k VALUES (1, 1);
/* tx3 */ BEGIN;
/* tx3 */ UPDATE p SET c = 2;
/* tx3 */ DELETE FROM p;                -- blocked
/* tx1 */ COMMIT;
/* tx3 */ ROLLBACK;
