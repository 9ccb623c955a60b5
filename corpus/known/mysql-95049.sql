-- source: https://bugs.mysql.com/bug.php?id=95049 (ReplBug)
-- seed: no, because savepoints are not generated
-- reported: READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ, SERIALIZABLE
-- note: ROLLBACK TO SAVEPOINT is documented to keep the locks set after the savepoint; they are released
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR SER): known rollback-to-renews-transaction
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): known rollback-to-renews-transaction
-- verdict (mariadb 10.11, RU RC RR SER): known rollback-to-renews-transaction
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): known rollback-to-renews-transaction
-- verdict (mariadb 10.5, RU RC RR SER): known rollback-to-renews-transaction
-- verdict (mysql 9.7, RU RC RR SER): known rollback-to-renews-transaction
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): known rollback-to-renews-transaction
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC): ok
-- verdict (postgres 18, RR SER): unknown promise not judged

/* init */ CREATE TABLE person (id INT NOT NULL AUTO_INCREMENT, name VARCHAR(255) NOT NULL, age INT NOT NULL, PRIMARY KEY (id));
/* init */ INSERT INTO person (name, age) VALUES ('John Lin', 29);
/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT somepoint;
/* tx1 */ UPDATE person SET age = 30 WHERE id = 1;
/* tx1 */ ROLLBACK TO somepoint;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE person SET age = 40 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
