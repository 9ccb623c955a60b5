-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(10)) CHARSET=latin1;
/* init */ INSERT INTO t VALUES (1, 'a'), (2, 'B');
/* tx1 */ SELECT * FROM t WHERE s = 'A';
