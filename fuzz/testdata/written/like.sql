-- x-want: judged
/* init */ CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, n INT UNIQUE, c CHAR(3) DEFAULT 'x') AUTO_INCREMENT = 50 CHARSET=utf8mb4;
/* init */ CREATE TABLE b LIKE a;
/* init */ INSERT INTO a (n) VALUES (1), (2);
/* init */ INSERT INTO b VALUES (1, 5, 'q');
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO b (n) VALUES (6);
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO b (n) VALUES (6);
/* tx1 */ COMMIT;
/* tx2 */ SELECT a.id, b.id FROM a JOIN b ON a.id > b.id;
/* tx2 */ COMMIT;
