-- source: written by hand
-- seed: no, because it guards the printing of one form of SQL
-- level: REPEATABLE READ
-- note: the table as TiDB's SHOW CREATE TABLE writes it: what stands in a comment with /*T! is for TiDB alone, and no other server is sent it outside of a comment
-- expected: ok
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): unknown init-error: set-up line 1, CREATE TABLE t (a INT NOT NULL, b INT DEFAULT NULL, PRIMARY KEY(a) NONCLUSTERED GLOBAL, UNIQUE k(a, b) GLOBAL) AUTO_ID_CACHE = 1 PARTITION BY HASH (a) PARTITIONS 2: error 1064 (42000): You have an error in your SQL syntax; check the manual that corresponds to your TiDB version for the right syntax to use line 1 column 86 near "GLOBAL, UNIQUE k(a, b) GLOBAL) AUTO_ID_CACHE = 1 PARTITION BY HASH (a) PARTITIONS 2"
-- verdict (postgres 18, RR): unknown refused

/* init */ CREATE TABLE t (a INT NOT NULL, b INT DEFAULT NULL, PRIMARY KEY(a) /*T![clustered_index] NONCLUSTERED */ /*T![global_index] GLOBAL */, UNIQUE k(a, b) /*T![global_index] GLOBAL */) /*T![auto_id_cache] AUTO_ID_CACHE = 1 */ PARTITION BY HASH (a) PARTITIONS 2;
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 3 WHERE a = 1;
/* tx2 */ SELECT * FROM t WHERE b = 1;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t WHERE b = 3;
