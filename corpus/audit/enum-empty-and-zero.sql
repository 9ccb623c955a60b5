-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: an ENUM that has the empty string as a member: its value 0, of a value that was not valid, reads like it
-- expected: ok or unknown
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): unknown init-error: set-up line 3, INSERT INTO t VALUES (0) ON CONFLICT DO NOTHING: error 23514 (23514): new row for relation "t" violates check constraint "t_a_check"

/* init */ CREATE TABLE t (a ENUM('x', ''));
/* init */ INSERT INTO t VALUES ('');
/* init */ INSERT IGNORE INTO t VALUES (0);
/* tx1 */ SELECT a + 0 FROM t;
