-- source: https://bugs.mysql.com/bug.php?id=116067
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: the twin of upsert-twin-update: the row has that value already by the newest version
-- expected: known on MySQL, TiDB and MariaDB without snapshot isolation
-- verdict (embedded, RR): known no-op-upsert-unseen
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): known no-op-upsert-unseen
-- verdict (mariadb 10.11, RR): known no-op-upsert-unseen
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): known no-op-upsert-unseen
-- verdict (mysql 9.7, RR): known no-op-upsert-unseen
-- verdict (mysql 9.7,binlog=off, RR): known no-op-upsert-unseen
-- verdict (tidb 2025-11, RR): known no-op-upsert-unseen
-- verdict (tidb 2024-07, RR): known no-op-upsert-unseen
-- verdict (postgres 18, RR): unknown refused

/* init */ CREATE TABLE k (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO k VALUES (1, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM k;
/* tx2 */ UPDATE k SET n = 7;
/* tx1 */ INSERT INTO k VALUES (1, 7) ON DUPLICATE KEY UPDATE n = 7;
/* tx1 */ SELECT * FROM k;
/* tx1 */ COMMIT;
