-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: an aggregate in a WHERE is error 1111
-- expected: the server refuses the text
-- verdict (embedded, RR): unknown stale
-- verdict (mariadb 11.8, RR): unknown stale
-- verdict (mariadb 11.8,snapshot=off, RR): unknown stale
-- verdict (mariadb 10.11, RR): unknown stale
-- verdict (mariadb 10.11,snapshot=on, RR): unknown stale
-- verdict (mariadb 10.5, RR): unknown stale
-- verdict (mysql 9.7, RR): unknown stale
-- verdict (mysql 9.7,binlog=off, RR): unknown stale
-- verdict (tidb 2025-11, RR): unknown stale
-- verdict (tidb 2024-07, RR): unknown stale
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT);
/* tx1 */ UPDATE t SET a = 1 WHERE COUNT(*) = 1;
