-- x-want: judged
-- x-not: tidb
/* init */ DROP TABLE IF EXISTS k;
/* init */ CREATE TABLE k (id INT PRIMARY KEY, n INT, s VARCHAR(10));
/* init */ INSERT INTO k VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, NULL);
/* init */ CREATE UNIQUE INDEX i ON k (n, s(3) DESC);
/* init */ ALTER TABLE k ADD COLUMN x INT NOT NULL DEFAULT 7 AFTER id, ADD INDEX j (x);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE k SET x = 8 WHERE n > 10;
/* tx2 */ INSERT INTO k (id, n, s) VALUES (4, 20, 'b');
/* tx1 */ ROLLBACK WORK;
/* tx2 */ SELECT * FROM k;
