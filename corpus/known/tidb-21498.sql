-- source: https://github.com/pingcap/tidb/issues/21498 (ReplBug fig. 4.12)
-- seed: no, because DDL among transactions is not modelled
-- reported: READ COMMITTED
-- status: Fixed
-- note: a snapshot and an index that is dropped
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

/* init */ CREATE TABLE t (id INT PRIMARY KEY, v INT, INDEX iv (v));
/* init */ INSERT INTO t VALUES (1, 10), (2, 20), (3, 30), (4, 40);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE v = 10;
/* tx2 */ ALTER TABLE t DROP INDEX iv;
/* tx2 */ UPDATE t SET v = 11 WHERE id = 1;
/* tx1 */ SELECT * FROM t WHERE v = 10;
/* tx1 */ SELECT * FROM t WHERE id = 1;
/* tx1 */ COMMIT;
