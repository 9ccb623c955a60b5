-- source: https://jira.mariadb.org/browse/MDEV-28140 (DT2; ReplBug)
-- seed: no, because implicit conversions in a condition are not modelled on MariaDB
-- reported: READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ, SERIALIZABLE
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): unknown init-error: set-up line 2, INSERT INTO t (c1, c2) VALUES (NULL, NULL), (NULL, 'abc') ON CONFLICT DO NOTHING: error 23502 (23502): null value in column "c1" of relation "t" violates not-null constraint

/* init */ CREATE TABLE t (c1 BLOB NOT NULL, c2 TEXT);
/* init */ INSERT IGNORE INTO t (c1, c2) VALUES (NULL, NULL), (NULL, 'abc');
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE c1;
/* tx1 */ UPDATE t SET c2 = 'test' WHERE c1;
/* tx1 */ ROLLBACK;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t WHERE c1;
/* tx2 */ COMMIT;
