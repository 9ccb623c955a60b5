-- x-want: judged
/* init */ SET SESSION sql_mode = '';
/* init */ SET foreign_key_checks = 0;
/* init */ SET NAMES utf8mb4;
/* init */ SET autocommit = 0;
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n TINYINT NOT NULL);
/* init */ INSERT INTO t VALUES (1, 1000), (2, -1000);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET n = 1 WHERE id = 1;
/* tx2 */ INSERT INTO t VALUES (3, 1000);
/* tx2 */ UPDATE t SET n = n - 1;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
