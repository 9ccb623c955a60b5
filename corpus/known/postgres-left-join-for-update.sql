-- source: dba.stackexchange.com 312261: FOR UPDATE shows the newest row beside an old one
-- link: https://dba.stackexchange.com/questions/312261/inconsistent-data-when-combining-left-join-with-select-for-update
-- status: Not a bug
-- affected: all
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:18
-- shows: all
-- observe: tx2.2
-- expected: (1,200,3)
-- anomaly: (1,200,2)
-- verdict (postgres 18, RC): unknown unsupported
-- verdict (postgres 18.3, RC): unknown unsupported
-- verdict (postgres 18.1, RC): unknown unsupported
-- verdict (postgres 17, RC): unknown unsupported
-- verdict (postgres 17.6, RC): unknown unsupported
-- verdict (postgres 17.0, RC): unknown unsupported
-- verdict (postgres 16, RC): unknown unsupported
-- verdict (postgres 16.1, RC): unknown unsupported
-- verdict (postgres 15, RC): unknown unsupported
-- verdict (postgres 15.10, RC): unknown unsupported
-- verdict (postgres 15.5, RC): unknown unsupported
-- verdict (postgres 15.3, RC): unknown unsupported
-- verdict (postgres 15.1, RC): unknown unsupported
-- verdict (postgres 14, RC): unknown unsupported
-- verdict (postgres 14.3, RC): unknown unsupported
-- verdict (postgres 13, RC): unknown unsupported
-- verdict (postgres 13.10, RC): unknown unsupported
-- verdict (postgres 12, RC): unknown unsupported
-- verdict (postgres 12.14, RC): unknown unsupported
-- verdict (postgres 11, RC): unknown unsupported
-- verdict (postgres 10, RC): unknown unsupported
-- verdict (postgres 10.20, RC): unknown unsupported

/* init */ CREATE TABLE counter (id INT PRIMARY KEY, n INT NOT NULL);
/* init */ CREATE TABLE diff (id INT PRIMARY KEY, counter_id INT NOT NULL, d INT NOT NULL);
/* init */ INSERT INTO counter VALUES (1, 100);
/* init */ INSERT INTO diff VALUES (1, 1, 50), (2, 1, 50);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM counter WHERE id = 1 FOR UPDATE;
/* tx2 */ BEGIN;
/* tx2 */ /* raw reads=counter,diff locks=exclusive */ SELECT counter.id, counter.n, diff.id AS d FROM counter LEFT JOIN diff ON counter.id = diff.counter_id WHERE counter.id = 1 ORDER BY diff.id DESC LIMIT 1 FOR UPDATE OF counter;   -- blocked
/* tx1 */ UPDATE counter SET n = n + 100 WHERE id = 1;
/* tx1 */ INSERT INTO diff VALUES (3, 1, 100);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
