-- source: https://github.com/pingcap/tidb/issues/34978 (ReplBug)
-- seed: no, because DDL among transactions is not modelled
-- reported: READ COMMITTED, REPEATABLE READ
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
-- verdict (postgres 18, RU RC): unknown unsupported
-- verdict (postgres 18, RR SER): unknown promise not judged

/* init */ CREATE TABLE t (id INT PRIMARY KEY, c INT NOT NULL);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx2 */ ALTER TABLE t DROP COLUMN c;
/* tx2 */ INSERT INTO t VALUES (3);
/* tx1 */ SELECT * FROM t FOR UPDATE;
/* tx1 */ COMMIT;
