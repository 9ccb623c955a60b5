-- source: https://bugs.mysql.com/bug.php?id=117797 (APTrans)
-- reported: REPEATABLE READ
-- status: Not a bug
-- note: columns and rows cut down; the last UPDATE follows the pattern of the report, R2 W1 C1 W2 C2
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
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE t (id INT, val INT, c0 DOUBLE UNIQUE KEY);
/* init */ INSERT INTO t VALUES (1222, 1508, 8548.0247), (1241, 1531, 2807.8848);
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx1 */ INSERT INTO t VALUES (1243, 1533, 694.5452);
/* tx2 */ SELECT * FROM t WHERE c0 = 8548.0247;
/* tx1 */ UPDATE t SET val = 1534, c0 = 6432.9682 WHERE c0 = 8548.0247;
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET val = 1535 WHERE id = 1222;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
