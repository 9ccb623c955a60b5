-- source: https://bugs.mysql.com/bug.php?id=105042
-- reported: READ COMMITTED
-- status: Verified (documentation)
-- note: the semi-consistent read of an UPDATE does not wait
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

/* init */ CREATE TABLE t (a INT, b INT);
/* init */ INSERT INTO t VALUES (NULL, 1), (NULL, 2), (NULL, 3);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 10;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 20 WHERE a;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
