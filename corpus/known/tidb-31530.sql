-- source: https://github.com/pingcap/tidb/issues/31530
-- seed: no, because UNION is not modelled
-- reported: REPEATABLE READ
-- status: Fixed
-- verdict (embedded, RC): ok
-- verdict (embedded, RR): unknown unsupported
-- verdict (mariadb 11.8, RU RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC SER): ok
-- verdict (mariadb 11.8,snapshot=off, RR): unknown unsupported
-- verdict (mariadb 10.11, RU RC SER): ok
-- verdict (mariadb 10.11, RR): unknown unsupported
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC SER): ok
-- verdict (mariadb 10.5, RR): unknown unsupported
-- verdict (mysql 9.7, RU RC SER): ok
-- verdict (mysql 9.7, RR): unknown unsupported
-- verdict (mysql 9.7,binlog=off, RU RC SER): ok
-- verdict (mysql 9.7,binlog=off, RR): unknown unsupported
-- verdict (tidb 2025-11, RC): ok
-- verdict (tidb 2025-11, RR): unknown unsupported
-- verdict (tidb 2024-07, RC): ok
-- verdict (tidb 2024-07, RR): unknown unsupported

/* init */ CREATE TABLE t1 (a INT);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t1;
/* tx2 */ INSERT INTO t1 VALUES (1);
/* tx1 */ (SELECT * FROM t1 FOR UPDATE) UNION ALL (SELECT * FROM t1);
/* tx1 */ COMMIT;
