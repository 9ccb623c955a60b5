-- x-want: judged
/* init */ CREATE TABLE k (id INT, n INT) ENGINE=InnoDB DEFAULT CHARSET=latin1 ROW_FORMAT=DYNAMIC STATS_PERSISTENT=0;
/* init */ ALTER TABLE k ADD PRIMARY KEY (id);
/* init */ INSERT INTO k VALUES (1, 10), (2, 20);
/* init */ ALTER TABLE k MODIFY n BIGINT NOT NULL;
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM k WHERE id = 1;
/* tx2 */ INSERT INTO k VALUES (1, NULL);
/* tx2 */ INSERT INTO k VALUES (1, 5);
/* tx1 */ ROLLBACK;
/* tx2 */ SELECT * FROM k;
