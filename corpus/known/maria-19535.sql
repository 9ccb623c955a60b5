-- source: https://jira.mariadb.org/browse/MDEV-19535 (ReplBug, section 4.4)
-- seed: no, because sql_mode is not modelled as a statement
-- reported: REPEATABLE READ, SERIALIZABLE
-- note: in ORACLE mode the first SELECT took no lock; the script's INTO @a is left out
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): unknown stale
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): unknown stale
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE t1 (a INT NOT NULL PRIMARY KEY);
/* init */ INSERT INTO t1 VALUES (1);
/* tx1 */ SET sql_mode = 'ORACLE';
/* tx2 */ SET sql_mode = 'ORACLE';
/* tx1 */ START TRANSACTION;
/* tx1 */ SELECT a FROM t1 FOR UPDATE;
/* tx2 */ START TRANSACTION;
/* tx2 */ SELECT a FROM t1 FOR UPDATE;
/* tx1 */ UPDATE t1 SET a = a + 100;
/* tx1 */ COMMIT;
/* tx2 */ SELECT a FROM t1;
/* tx2 */ COMMIT;
