-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: tx1's snapshot is of its BEGIN; the subquery in its UPDATE is a part of a write, which reads the newest committed data
-- expected: known scalar-subquery-of-write-reads-snapshot on TiDB; ok elsewhere
-- verdict (embedded, RR): known scalar-subquery-of-write-reads-snapshot
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known scalar-subquery-of-write-reads-snapshot
-- verdict (tidb 2024-07, RR): known scalar-subquery-of-write-reads-snapshot
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE d1 (id INT NOT NULL);
/* init */ CREATE TABLE d2 (id INT NOT NULL);
/* init */ INSERT INTO d1 VALUES (1);
/* init */ INSERT INTO d2 VALUES (1);
/* tx1 */ BEGIN;
/* tx2 */ UPDATE d1 SET id = 2;
/* tx1 */ UPDATE d2 SET id = (SELECT id + 1 FROM d1);
/* tx1 */ COMMIT;
