-- source: https://github.com/pingcap/tidb/issues/37653 (ReplBug)
-- reported: READ COMMITTED, REPEATABLE READ
-- note: which rows FOR UPDATE locks that its second condition leaves out
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

/* init */ CREATE TABLE t1 (id1 INT, id2 INT, id3 INT, PRIMARY KEY (id1), UNIQUE KEY udx_id2 (id2));
/* init */ INSERT INTO t1 VALUES (1, 1, 1);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t1 WHERE id1 = 1 AND id2 = 2 FOR UPDATE;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t1 WHERE id1 = 1 FOR UPDATE;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
