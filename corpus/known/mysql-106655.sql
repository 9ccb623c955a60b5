-- source: https://bugs.mysql.com/bug.php?id=106655 (DT2)
-- reported: not told
-- note: a DELETE of all rows finds one fewer than the SELECT before it
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

/* init */ CREATE TABLE t (c1 INT, c2 INT);
/* init */ INSERT INTO t (c1, c2) VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t WHERE c1 = 1;
/* tx2 */ COMMIT;
/* tx1 */ DELETE FROM t;
/* tx1 */ COMMIT;
