-- x-want: judged
/* init */ CREATE TABLE t (id INT PRIMARY KEY, n INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
/* init */ CREATE VIEW v AS SELECT id, n + 1 AS m FROM t WHERE n > 5;
/* init */ CREATE OR REPLACE VIEW w (p, q) AS SELECT v.id, v.m FROM v;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM v;
/* tx2 */ UPDATE t SET n = 100 WHERE id = 1;
/* tx1 */ SELECT * FROM v WHERE m > 20;
/* tx1 */ SELECT q FROM w AS z WHERE z.p = 1;
/* tx1 */ COMMIT;
