-- x-want: unknown
-- x-not: tidb
/* init */ CREATE TABLE k (id INT PRIMARY KEY) ENGINE = MyISAM;
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO k VALUES (1);
/* tx2 */ SELECT * FROM k;
/* tx1 */ ROLLBACK;
