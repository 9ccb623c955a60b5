-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: on MariaDB IGNORE makes a lock time-out (error 1205) a warning, and no row is deleted
-- expected: ok or unknown
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): unknown unsupported
-- verdict (mariadb 11.8,snapshot=off, RR): unknown unsupported
-- verdict (mariadb 10.11, RR): unknown unsupported
-- verdict (mariadb 10.11,snapshot=on, RR): unknown unsupported
-- verdict (mariadb 10.5, RR): unknown unsupported
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): unknown refused

/* init */ CREATE TABLE t (a INT, KEY (a));
/* init */ INSERT INTO t VALUES (6);
/* tx1 */ BEGIN;
/* tx1 */ SELECT a FROM t LOCK IN SHARE MODE;
/* tx2 */ DELETE IGNORE FROM t;
