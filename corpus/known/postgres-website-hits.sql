-- source: the manual, 13.2.1: a DELETE finds no row, although there is one that matches before and after
-- link: https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
-- status: Documented
-- affected: all
-- reported: READ COMMITTED
-- level: READ COMMITTED
-- target: postgres:18
-- shows: all
-- observe: tx2.1
-- expected: 1 affected
-- anomaly: 0 affected
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

/* init */ CREATE TABLE website (id INT PRIMARY KEY, hits INT);
/* init */ INSERT INTO website VALUES (1, 9), (2, 10);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE website SET hits = hits + 1;
/* tx2 */ DELETE FROM website WHERE hits = 10;   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM website ORDER BY id;
