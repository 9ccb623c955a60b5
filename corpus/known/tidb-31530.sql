-- source: https://github.com/pingcap/tidb/issues/31530
-- seed: no, because UNION is not modelled
-- reported: REPEATABLE READ
-- status: Fixed
-- verdict (embedded, RC RR): unknown unsupported
-- verdict (mariadb 11.8, RU RC SER): unknown unsupported
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): unknown unsupported
-- verdict (mariadb 10.11, RU RC RR SER): unknown unsupported
-- verdict (mariadb 10.11,snapshot=on, RU RC SER): unknown unsupported
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RU RC RR SER): unknown unsupported
-- verdict (mysql 9.7, RU RC RR SER): unknown unsupported
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): unknown unsupported
-- verdict (tidb 2025-11, RC RR): unknown unsupported
-- verdict (tidb 2024-07, RC RR): unknown unsupported
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE t1 (a INT);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t1;
/* tx2 */ INSERT INTO t1 VALUES (1);
/* tx1 */ (SELECT * FROM t1 FOR UPDATE) UNION ALL (SELECT * FROM t1);
/* tx1 */ COMMIT;
