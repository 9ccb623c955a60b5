-- x-want: judged
/* init */ CREATE TABLE k (id INT PRIMARY KEY AUTO_INCREMENT, n INT) AUTO_INCREMENT = 100;
/* init */ INSERT INTO k (n) VALUES (1);
/* tx1 */ INSERT INTO k (n) VALUES (2);
/* tx1 */ SELECT * FROM k;
