-- source: https://github.com/pingcap/tidb/issues/31405 (DT2)
-- seed: no, because implicit conversions in a condition are not modelled on MariaDB
-- reported: not told
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

/* init */ CREATE TABLE t (c1 DECIMAL);
/* init */ INSERT INTO t (c1) VALUES (1.0);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET c1 = c1 + 1 WHERE c1 > 'a';
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t WHERE c1 > 'a';
/* tx1 */ ROLLBACK;
/* tx2 */ COMMIT;
