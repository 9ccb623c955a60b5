-- level: READ COMMITTED
-- target: embedded
-- hold: tx1 1 at store PessimisticLock hit 2 until tx2 1
-- link: https://github.com/pingcap/tidb/issues/69828

/* init */ CREATE TABLE p (id INT PRIMARY KEY, k INT, UNIQUE KEY (k));
/* init */ CREATE TABLE c (id INT PRIMARY KEY, pk INT, KEY (pk), FOREIGN KEY (pk) REFERENCES p (k) ON UPDATE CASCADE);
/* init */ INSERT INTO p VALUES (1, 1), (2, 2);
/* init */ INSERT INTO c VALUES (1, 1);
/* tx1 */ UPDATE p SET k = 11 WHERE id = 1;
/* tx2 */ INSERT INTO c VALUES (2, 1);
