-- source: https://jira.mariadb.org/browse/MDEV-32898 (Fucci; shown as MySQL#113228 in section 5)
-- reported: REPEATABLE READ
-- status: Fixed by innodb_snapshot_isolation, Critical
-- verdict (embedded, RC): ok
-- verdict (embedded, RR): known key-change-leaves-old-row
-- verdict (mariadb 11.8, RU RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC SER): ok
-- verdict (mariadb 11.8,snapshot=off, RR): known key-change-leaves-old-row
-- verdict (mariadb 10.11, RU RC SER): ok
-- verdict (mariadb 10.11, RR): known key-change-leaves-old-row
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC): ok
-- verdict (mariadb 10.5, RR): known key-change-leaves-old-row
-- verdict (mariadb 10.5, SER): known deadlock-leaves-transaction-open
-- verdict (mysql 9.7, RU RC SER): ok
-- verdict (mysql 9.7, RR): known key-change-leaves-old-row
-- verdict (mysql 9.7,binlog=off, RU RC SER): ok
-- verdict (mysql 9.7,binlog=off, RR): known key-change-leaves-old-row
-- verdict (tidb 2025-11, RC): ok
-- verdict (tidb 2025-11, RR): known key-change-leaves-old-row
-- verdict (tidb 2024-07, RC): ok
-- verdict (tidb 2024-07, RR): known key-change-leaves-old-row
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* init */ INSERT INTO t VALUES (2, 2);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t LOCK IN SHARE MODE;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET a = 3 WHERE b = 2;
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET b = 3;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
