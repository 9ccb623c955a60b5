-- level: REPEATABLE READ
/* init */ CREATE TABLE parent (id INT PRIMARY KEY, v INT);
/* init */ CREATE TABLE child (id INT PRIMARY KEY, p INT, KEY (p), FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE);
/* init */ INSERT INTO parent VALUES (1, 0), (2, 0), (5, 0);
/* init */ INSERT INTO child VALUES (10, 1), (11, 1);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO child VALUES (21, 5), (22, 5), (23, 5), (24, 5);
/* tx2 */ UPDATE child SET id = 12 WHERE id = 11;
/* tx1 */ INSERT INTO parent VALUES (4, 0);
/* tx1 */ DELETE FROM parent WHERE id = 1;
/* tx2 */ UPDATE parent SET v = 2 WHERE id = 1;
/* tx1 */ SELECT * FROM parent;
/* tx1 */ INSERT INTO parent VALUES (3, 0);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM parent;
/* tx1 */ SELECT * FROM child;
