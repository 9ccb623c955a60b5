-- source: https://jira.mariadb.org/browse/MDEV-28027 (DT2; ReplBug)
-- seed: no, because RAND is not modelled
-- reported: READ UNCOMMITTED, READ COMMITTED, REPEATABLE READ, SERIALIZABLE
-- verdict (embedded, RC RR): unknown unsupported
-- verdict (mariadb 11.8, RU RC RR SER): unknown unsupported
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): unknown unsupported
-- verdict (mariadb 10.11, RU RC RR SER): unknown unsupported
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): unknown unsupported
-- verdict (mariadb 10.5, RU RC RR SER): unknown unsupported
-- verdict (mysql 9.7, RU RC RR SER): unknown unsupported
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): unknown unsupported
-- verdict (tidb 2025-11, RC RR): unknown unsupported
-- verdict (tidb 2024-07, RC RR): unknown unsupported
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE t (c1 INT);
/* init */ INSERT INTO t (c1) VALUES (3), (2), (1);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE RAND('test');
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET c1 = +1 WHERE RAND('test');
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
