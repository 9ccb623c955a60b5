-- x-want: refused
/* init */ CREATE TABLE k (id INT PRIMARY KEY);
/* init */ SET GLOBAL innodb_lock_wait_timeout = 1;
/* tx1 */ SELECT * FROM k;
