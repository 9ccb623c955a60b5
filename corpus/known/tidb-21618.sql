-- source: https://github.com/pingcap/tidb/issues/21618 (ReplBug)
-- seed: no, because partitions are not modelled
-- reported: READ COMMITTED, REPEATABLE READ
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

/* init */ CREATE TABLE t (c_int INT, d_int INT, PRIMARY KEY (c_int), KEY (d_int)) PARTITION BY HASH (c_int) PARTITIONS 4;
/* init */ INSERT INTO t VALUES (1, 2);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE d_int IN (SELECT d_int FROM t WHERE c_int = 1) FOR UPDATE;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t WHERE d_int = 2 FOR UPDATE;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
