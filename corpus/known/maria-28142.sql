-- source: https://jira.mariadb.org/browse/MDEV-28142 (DT2)
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

/* init */ CREATE TABLE t (c1 TEXT);
/* init */ INSERT INTO t (c1) VALUES ('a');
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE CAST(IF('a', '1', 1) AS SIGNED);
/* tx1 */ UPDATE t SET c1 = 'b' WHERE CAST(IF('a', '1', 1) AS SIGNED);
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t WHERE CAST(IF('a', '1', 1) AS SIGNED);
/* tx2 */ COMMIT;
