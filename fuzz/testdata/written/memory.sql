-- x-want: unknown
-- x-not: tidb
/* init */ CREATE TABLE k (id INT PRIMARY KEY);
/* init */ ALTER TABLE k ENGINE = MEMORY;
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO k VALUES (1);
/* tx2 */ SELECT * FROM k;
/* tx1 */ ROLLBACK;
