-- x-want: judged
/* init */ CREATE DATABASE IF NOT EXISTS shop CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
/* init */ USE shop;
/* init */ CREATE TABLE t (s VARCHAR(10) UNIQUE);
/* init */ INSERT INTO t VALUES ('a');
/* tx1 */ SELECT * FROM t WHERE s = 'A';
/* tx1 */ INSERT INTO t VALUES ('A');
/* tx1 */ SELECT * FROM t;
