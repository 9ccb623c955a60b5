-- source: https://jira.mariadb.org/browse/MDEV-26671 (Troc); also https://bugs.mysql.com/bug.php?id=105030
-- reported: REPEATABLE READ
-- note: the row that another transaction inserted is updated to itself and stays unseen
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

/* init */ CREATE TABLE t (c1 INT, c2 INT);
/* init */ INSERT INTO t VALUES (0, 0), (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO t (c1, c2) VALUES (10, 2);
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET c1 = 10;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
