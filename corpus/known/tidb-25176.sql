-- source: https://github.com/pingcap/tidb/issues/25176 (ReplBug fig. 4.13)
-- seed: no, because tidb_snapshot is a variable of TiDB, and on other servers the SET fails
-- reported: REPEATABLE READ
-- status: Open
-- verdict (embedded, RC RR): unknown unsupported
-- verdict (mariadb 11.8, RU RC RR SER): unknown stale
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): unknown stale
-- verdict (mariadb 10.11, RU RC RR SER): unknown stale
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): unknown stale
-- verdict (mariadb 10.5, RU RC RR SER): unknown stale
-- verdict (mysql 9.7, RU RC RR SER): unknown stale
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): unknown stale
-- verdict (tidb 2025-11, RC RR): unknown unsupported
-- verdict (tidb 2024-07, RC RR): unknown unsupported
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE t (id INT PRIMARY KEY, a INT);
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx2 */ UPDATE t SET a = 2 WHERE id = 1;
/* tx1 */ SET @@tidb_snapshot = TIMESTAMP(NOW());
/* tx1 */ SELECT a FROM t WHERE id = 1;
/* tx1 */ SELECT a FROM t WHERE id = 1 FOR UPDATE;
/* tx1 */ SELECT a FROM t WHERE id = 1;
/* tx1 */ COMMIT;
