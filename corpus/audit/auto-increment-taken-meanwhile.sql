-- source: found by txnfuzz against an honest server
-- seed: no, because it guards the judgement of one form of SQL
-- level: SERIALIZABLE
-- note: tx2 takes its AUTO_INCREMENT value before it waits for the gap, and tx1 inserts that value; the counter belongs to no transaction, so no serial order need give the error
-- expected: ok
-- verdict (mariadb 11.8, SER): ok
-- verdict (mariadb 11.8,snapshot=off, SER): ok
-- verdict (mariadb 10.11, SER): ok
-- verdict (mariadb 10.11,snapshot=on, SER): ok
-- verdict (mariadb 10.5, SER): ok
-- verdict (mysql 9.7, SER): ok
-- verdict (mysql 9.7,binlog=off, SER): ok
-- verdict (postgres 18, SER): unknown promise not judged

/* init */ CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b VARCHAR(10));
/* init */ INSERT INTO t VALUES (1, 'b'), (2, 'b');
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = b WHERE b > 'b';
/* tx1 */ INSERT INTO t (b) VALUES ('ab');
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO t (b) VALUES (NULL);
/* tx1 */ INSERT INTO t (a) VALUES (4);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
