-- source: https://bugs.mysql.com/bug.php?id=106629 (DT2); as MDEV-27992
-- reported: not told
-- note: the DELETE waits before the second UPDATE moves the key
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC): known moved-row
-- verdict (mariadb 11.8, RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC): known moved-row
-- verdict (mariadb 11.8,snapshot=off, RR SER): ok
-- verdict (mariadb 10.11, RU RC): known moved-row
-- verdict (mariadb 10.11, RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC): known moved-row
-- verdict (mariadb 10.11,snapshot=on, RR SER): ok
-- verdict (mariadb 10.5, RU RC): known moved-row
-- verdict (mariadb 10.5, RR SER): known deadlock-leaves-transaction-open
-- verdict (mysql 9.7, RU RC): known moved-row
-- verdict (mysql 9.7, RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC): known moved-row
-- verdict (mysql 9.7,binlog=off, RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t (c1 INT PRIMARY KEY);
/* init */ INSERT INTO t (c1) VALUES (8);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET c1 = 5;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t;
/* tx1 */ UPDATE t SET c1 = 3;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t FOR UPDATE;
/* tx2 */ COMMIT;
