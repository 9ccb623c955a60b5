-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ SET sort_buffer_size = 1000000;
/* tx1 */ SET SESSION long_query_time = 1;
/* tx1 */ SET foreign_key_checks = 0;
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET n = 11 WHERE id = 1;
/* tx2 */ UPDATE t SET n = 12 WHERE id = 1;
/* tx1 */ ROLLBACK;
