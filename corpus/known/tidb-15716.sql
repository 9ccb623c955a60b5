-- source: https://github.com/pingcap/tidb/issues/15716
-- reported: REPEATABLE READ
-- status: Closed
-- note: write cycles (G0): a SELECT right behind two COMMITs must see both
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE test (id INT PRIMARY KEY, value INT);
/* init */ INSERT INTO test (id, value) VALUES (1, 10), (2, 20);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE test SET value = 11 WHERE id = 1;
/* tx1 */ UPDATE test SET value = 19 WHERE id = 2;
/* tx2 */ UPDATE test SET value = 12 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ UPDATE test SET value = 18 WHERE id = 2;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM test;
/* tx1 */ SELECT * FROM test;
