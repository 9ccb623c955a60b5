-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: a savepoint before the first read; ROLLBACK TO drops the snapshot
-- expected: known rollback-to-renews-transaction on InnoDB; ok on TiDB
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): known rollback-to-renews-transaction
-- verdict (mariadb 11.8,snapshot=off, RR): known rollback-to-renews-transaction
-- verdict (mariadb 10.11, RR): known rollback-to-renews-transaction
-- verdict (mariadb 10.11,snapshot=on, RR): known rollback-to-renews-transaction
-- verdict (mariadb 10.5, RR): known rollback-to-renews-transaction
-- verdict (mysql 9.7, RR): known rollback-to-renews-transaction
-- verdict (mysql 9.7,binlog=off, RR): known rollback-to-renews-transaction
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE p (id INT PRIMARY KEY, v INT);
/* init */ INSERT INTO p VALUES (1,2);
/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT x;
/* tx1 */ SELECT * FROM p;
/* tx1 */ ROLLBACK TO SAVEPOINT x;
/* tx2 */ UPDATE p SET v = 5;
/* tx1 */ SELECT * FROM p;
/* tx1 */ COMMIT;
