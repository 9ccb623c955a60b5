-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ SET SESSION sql_mode = '';
/* tx1 */ INSERT INTO t VALUES (5, 'x');
