-- x-want: refused
/* init */ CREATE TABLE k (id INT PRIMARY KEY);
/* tx1 */ SELECT * FROM mysql.user;
