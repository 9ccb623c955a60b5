-- source: https://github.com/pingcap/tidb/issues/26973 (ReplBug)
-- seed: no, because partitions are not modelled
-- reported: READ COMMITTED, REPEATABLE READ
-- note: a deadlock
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

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT) PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (2), PARTITION p1 VALUES LESS THAN (4), PARTITION p2 VALUES LESS THAN (MAXVALUE));
/* init */ INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET a = 10 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 11 WHERE a = 2;
/* tx1 */ UPDATE t SET b = 12 WHERE a = 2;
/* tx2 */ UPDATE t SET b = 13 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
