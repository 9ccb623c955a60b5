-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- level: SERIALIZABLE
-- note: a number against a text key: each text is converted, so the key is scanned, and the scan waits for a row that does not match
-- expected: ok
-- verdict (mariadb 11.8, SER): ok
-- verdict (mariadb 11.8,snapshot=off, SER): ok
-- verdict (mariadb 10.11, SER): ok
-- verdict (mariadb 10.11,snapshot=on, SER): ok
-- verdict (mariadb 10.5, SER): ok
-- verdict (mysql 9.7, SER): ok
-- verdict (mysql 9.7,binlog=off, SER): ok
-- verdict (postgres 18, SER): ok

/* init */ CREATE TABLE t (a VARCHAR(5) PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES ('1', 1), ('2', 2);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 10 WHERE a = '1';
/* tx2 */ UPDATE t SET b = 20 WHERE a = 2;
/* tx1 */ COMMIT;
