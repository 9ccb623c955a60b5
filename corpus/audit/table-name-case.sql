-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: names of tables are case-sensitive on MySQL and MariaDB under Linux: error 1054. TiDB's are not
-- expected: ok on TiDB; elsewhere the server refuses the text
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): unknown stale
-- verdict (mariadb 11.8,snapshot=off, RR): unknown stale
-- verdict (mariadb 10.11, RR): unknown stale
-- verdict (mariadb 10.11,snapshot=on, RR): unknown stale
-- verdict (mariadb 10.5, RR): unknown stale
-- verdict (mysql 9.7, RR): unknown stale
-- verdict (mysql 9.7,binlog=off, RR): unknown stale
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t1 (a INT);
/* tx1 */ SELECT COUNT(T1.a) FROM t1;
