-- source: https://github.com/pingcap/tidb/issues/21688 (ReplBug)
-- seed: no, because row operands are not modelled
-- reported: READ COMMITTED, REPEATABLE READ
-- note: a point get locks a key whose row its whole condition leaves out
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

/* init */ CREATE TABLE t (k1 INT, k2 INT, v INT, UNIQUE KEY (k1));
/* init */ INSERT INTO t VALUES (1, 1, NULL), (2, 2, 2);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET v = 10 WHERE (k1, v) IN ((1, NULL));
/* tx2 */ UPDATE t SET v = 11 WHERE (k1, v) IN ((1, NULL));
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
