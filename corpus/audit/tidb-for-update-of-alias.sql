-- source: https://github.com/pingcap/tidb/issues/67705
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: FOR UPDATE OF names an alias, as it must; TiDB looks for a table of that name, and there is none (error 1146)
-- expected: a violation or a known deviation on TiDB; ok or unknown on MySQL; MariaDB, which has no OF, refuses the text
-- verdict (embedded, RR): violation unexpected-error
-- verdict (mariadb 11.8, RR): unknown stale
-- verdict (mariadb 11.8,snapshot=off, RR): unknown stale
-- verdict (mariadb 10.11, RR): unknown stale
-- verdict (mariadb 10.11,snapshot=on, RR): unknown stale
-- verdict (mariadb 10.5, RR): unknown stale
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): violation unexpected-error
-- verdict (tidb 2024-07, RR): violation unexpected-error
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1);
/* tx1 */ SELECT * FROM t AS x FOR UPDATE OF x;
