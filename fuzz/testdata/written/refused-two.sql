-- x-want: refused
/* init */ CREATE TABLE a.k (id INT PRIMARY KEY);
/* tx1 */ SELECT * FROM b.k;
