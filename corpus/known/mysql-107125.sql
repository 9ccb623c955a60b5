-- source: https://bugs.mysql.com/bug.php?id=107125 (DT2)
-- seed: no, because an error under IS NULL is not modelled
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

/* init */ CREATE TABLE t (c1 VARCHAR(14));
/* init */ INSERT IGNORE INTO t (c1) VALUES ('test');
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t WHERE CAST('123abc' AS DOUBLE) IS NOT NULL;
/* tx1 */ ROLLBACK;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET c1 = 'xyz' WHERE CAST('123abc' AS DOUBLE) IS NULL;
/* tx2 */ COMMIT;
