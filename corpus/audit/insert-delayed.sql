-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: INSERT DELAYED: MySQL and TiDB read it as INSERT, MariaDB refuses it of an InnoDB table (error 1616)
-- expected: ok or unknown; on MariaDB the server refuses the text
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): unknown stale
-- verdict (mariadb 11.8,snapshot=off, RR): unknown stale
-- verdict (mariadb 10.11, RR): unknown stale
-- verdict (mariadb 10.11,snapshot=on, RR): unknown stale
-- verdict (mariadb 10.5, RR): unknown stale
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY kb (b));
/* init */ INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
/* tx1 */ INSERT DELAYED INTO t VALUES (9, 9);
