-- source: https://bugs.mysql.com/bug.php?id=119577
-- seed: no, because SET TRANSACTION is not generated
-- reported: READ UNCOMMITTED
-- note: the script sets the level inside the transactions, where it takes effect in the next one
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
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 2);
/* init */ INSERT INTO t VALUES (2, 4);
/* tx1 */ BEGIN;
/* tx1 */ SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;
/* tx2 */ BEGIN;
/* tx2 */ SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;
/* tx2 */ DELETE FROM t WHERE a = 1;
/* tx1 */ SELECT * FROM t WHERE a = 1;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t WHERE a = 1;
/* tx1 */ COMMIT;
