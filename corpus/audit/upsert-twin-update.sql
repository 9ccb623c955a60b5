-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: an UPDATE to the value that the row has by the newest version, not by the snapshot
-- expected: known no-op-update-unseen on MySQL, TiDB and MariaDB without snapshot isolation
-- verdict (embedded, RR): known no-op-update-unseen
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): known no-op-update-unseen
-- verdict (mariadb 10.11, RR): known no-op-update-unseen
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): known no-op-update-unseen
-- verdict (mysql 9.7, RR): known no-op-update-unseen
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known no-op-update-unseen
-- verdict (tidb 2024-07, RR): known no-op-update-unseen
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE k (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO k VALUES (1, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM k;
/* tx2 */ UPDATE k SET n = 7;
/* tx1 */ UPDATE k SET n = 7;
/* tx1 */ SELECT * FROM k;
/* tx1 */ COMMIT;
