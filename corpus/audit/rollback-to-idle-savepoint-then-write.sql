-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- note: ROLLBACK TO an idle savepoint gives the lock of the undone UPDATE back; the dependencies are those of two transactions then
-- expected: ok or known rollback-to-renews-transaction on InnoDB
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR): known rollback-to-renews-transaction
-- verdict (mariadb 11.8, SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR): known rollback-to-renews-transaction
-- verdict (mariadb 11.8,snapshot=off, SER): ok
-- verdict (mariadb 10.11, RU RC RR): known rollback-to-renews-transaction
-- verdict (mariadb 10.11, SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC RR): known rollback-to-renews-transaction
-- verdict (mariadb 10.11,snapshot=on, SER): ok
-- verdict (mariadb 10.5, RU RC RR): known rollback-to-renews-transaction
-- verdict (mariadb 10.5, SER): ok
-- verdict (mysql 9.7, RU RC RR): known rollback-to-renews-transaction
-- verdict (mysql 9.7, SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR): known rollback-to-renews-transaction
-- verdict (mysql 9.7,binlog=off, SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE, c INT);
/* init */ INSERT INTO t VALUES (1,10,100),(2,20,200),(3,30,300),(5,50,500);
/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT p;
/* tx1 */ UPDATE t SET c=c+1 WHERE b=20;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET c=c+7 WHERE a=3;
/* tx1 */ SELECT * FROM t;
/* tx1 */ ROLLBACK TO p;
/* tx2 */ DELETE FROM t WHERE a=2;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET c=c+1 WHERE a<=3;
/* tx1 */ ROLLBACK TO p;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
