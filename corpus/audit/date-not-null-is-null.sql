-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: MySQL and MariaDB document that a zero date IS NULL where its column is NOT NULL
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
-- verdict (postgres 18, RR): unknown init-error: set-up line 2, INSERT INTO t VALUES ('0000-00-00') ON CONFLICT DO NOTHING: error 22008 (22008): date/time field value out of range: "0000-00-00"

/* init */ CREATE TABLE t (d DATE NOT NULL);
/* init */ INSERT IGNORE INTO t VALUES ('0000-00-00');
/* tx1 */ SELECT * FROM t WHERE d IS NULL;
