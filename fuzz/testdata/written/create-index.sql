-- x-want: judged
/* init */ CREATE TABLE k (id INT PRIMARY KEY, n INT);
/* init */ CREATE INDEX i ON k (n ASC);
/* init */ INSERT INTO k VALUES (1, 10), (2, 20), (3, 30);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM k WHERE n >= 20 FOR UPDATE;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE k SET n = 21 WHERE id = 2;
/* tx1 */ COMMIT WORK;
/* tx2 */ SELECT * FROM k ORDER BY id ASC;
/* tx2 */ COMMIT;
