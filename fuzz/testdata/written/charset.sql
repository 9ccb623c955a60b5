-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(10)) CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
/* init */ CREATE TABLE u (id INT PRIMARY KEY, s VARCHAR(10) COLLATE utf8mb4_general_ci);
/* init */ INSERT INTO t VALUES (1, 'a'), (2, 'B');
/* init */ INSERT INTO u VALUES (1, 'a'), (2, 'B');
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE s = 'A';
/* tx1 */ SELECT * FROM u WHERE s = 'A' FOR UPDATE;
/* tx2 */ UPDATE u SET s = 'C' WHERE s = 'b';
/* tx1 */ COMMIT;
