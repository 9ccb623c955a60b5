-- source: dba.stackexchange.com 318088: UPDATE … FROM passes over a row whose reference changed while it waited
-- link: https://dba.stackexchange.com/questions/318088/concurrent-update-on-two-different-tables-fail
-- status: Not a bug
-- affected: all
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:18
-- shows: all
-- observe: tx2.2
-- expected: 1 affected
-- anomaly: 0 affected
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

/* init */ CREATE TABLE plans (slug INT PRIMARY KEY);
/* init */ CREATE TABLE orgs (id INT PRIMARY KEY, slug INT, w INT);
/* init */ INSERT INTO plans VALUES (1), (2);
/* init */ INSERT INTO orgs VALUES (1, 1, 0);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE orgs SET slug = 2 WHERE id = 1;
/* tx2 */ BEGIN;
/* tx2 */ /* raw reads=orgs,plans writes=orgs */ UPDATE orgs SET w = 999 FROM plans WHERE orgs.id = 1 AND plans.slug = orgs.slug;   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
