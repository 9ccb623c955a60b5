-- x-want: judged
/* init */ DROP DATABASE IF EXISTS test;
/* init */ CREATE DATABASE test;
/* init */ USE test;
/* init */ CREATE TABLE test.t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* tx1 */ USE test;
/* tx1 */ BEGIN;
/* tx1 */ SELECT test.t.id, t.* FROM test.t WHERE test.t.n = 10 FOR UPDATE;
/* tx2 */ UPDATE Test.t SET n = 11 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM test.t;
/* tx2 */ INSERT INTO test.t VALUES (1, 1);
