-- source: https://github.com/pingcap/tidb/issues/28095 (Troc, DT2)
-- seed: no, because implicit conversions in a condition are not modelled on MariaDB
-- reported: READ COMMITTED, REPEATABLE READ
-- status: Verified, Minor
-- note: the second session's UPDATE fails or not by what its own transaction has overwritten
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

/* init */ CREATE TABLE t (c1 VARCHAR(20), c2 INT);
/* init */ INSERT INTO t VALUES ('abc', 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET c2 = 10 WHERE CAST(c1 AS DECIMAL) + 1;
/* tx1 */ ROLLBACK;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET c2 = 9;
/* tx2 */ UPDATE t SET c2 = 10 WHERE CAST(c1 AS DECIMAL) + 1;
/* tx2 */ COMMIT;
