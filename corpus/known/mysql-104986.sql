-- source: https://bugs.mysql.com/bug.php?id=104986 (found by Troc)
-- reported: REPEATABLE READ
-- status: Duplicate
-- note: an UPDATE that changes nothing is not seen; same cause as MDEV-26642
-- verdict (embedded, RC): ok
-- verdict (embedded, RR): known no-op-update-unseen
-- verdict (mariadb 11.8, RU RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC SER): ok
-- verdict (mariadb 11.8,snapshot=off, RR): known no-op-update-unseen
-- verdict (mariadb 10.11, RU RC SER): ok
-- verdict (mariadb 10.11, RR): known no-op-update-unseen
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC SER): ok
-- verdict (mariadb 10.5, RR): known no-op-update-unseen
-- verdict (mysql 9.7, RU RC SER): ok
-- verdict (mysql 9.7, RR): known no-op-update-unseen
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC): ok
-- verdict (tidb 2025-11, RR): known no-op-update-unseen
-- verdict (tidb 2024-07, RC): ok
-- verdict (tidb 2024-07, RR): known no-op-update-unseen
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t (a INT, b INT);
/* init */ INSERT INTO t VALUES (0, 0), (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 10 WHERE b = 1;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET a = 10;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
