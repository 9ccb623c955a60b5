-- source: https://github.com/pingcap/tidb/issues/21151 (ReplBug fig. 4.11)
-- seed: no, because its index hint does not fit other schemas
-- reported: READ COMMITTED
-- status: Fixed
-- note: TiDB 4.0.8: the index merge did not refresh its timestamp
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

/* init */ CREATE TABLE t (id INT PRIMARY KEY, value INT, a INT NOT NULL, b INT NOT NULL, INDEX ia (a), INDEX ib (b));
/* init */ INSERT INTO t VALUES (1, 10, 2, 0), (2, 10, 4, 4), (3, 10, 0, 2), (4, 10, 0, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE a > 3 OR b > 3;
/* tx1 */ SELECT /*+ USE_INDEX_MERGE(t, ia, ib) */ * FROM t WHERE a > 3 OR b > 3;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET value = 11 WHERE id = 2;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM t WHERE a > 3 OR b > 3;
/* tx1 */ SELECT /*+ USE_INDEX_MERGE(t, ia, ib) */ * FROM t WHERE a > 3 OR b > 3;
/* tx1 */ COMMIT;
