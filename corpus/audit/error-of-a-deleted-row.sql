-- source: found by txnfuzz in a soak
-- seed: no, because it guards the judgement of one form of SQL
-- level: REPEATABLE READ
-- note: the second DELETE waits for a row that is gone then; that its condition fails on what the row held before is no error
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
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT, b BIGINT, INDEX (b));
/* init */ INSERT INTO t VALUES (0, 4611686018427387903);
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t WHERE b AND (b * 3);
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
