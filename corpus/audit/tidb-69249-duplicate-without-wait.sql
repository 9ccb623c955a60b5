-- source: https://github.com/pingcap/tidb/issues/69249
-- seed: no, because it guards the judgement of one form of SQL
-- note: tx2's UPDATE gives two rows one unique value. TiDB answers with error 1062 at once, although tx1, which deletes the rows, has not ended, and others wait. Its manual promises that an UPDATE reads the latest committed data and locks the rows that it modifies (https://docs.pingcap.com/tidb/stable/pessimistic-transaction): both rows are committed, and one that fails modifies none
-- expected: ok; a known deviation where MariaDB passes over changed rows at RU
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU): known semi-consistent-read-uncommitted
-- verdict (mariadb 11.8, RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU): known semi-consistent-read-uncommitted
-- verdict (mariadb 10.11,snapshot=on, RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE t (c1 TEXT, UNIQUE KEY i1 (c1(3)));
/* init */ INSERT INTO t (c1) VALUES ('a');
/* init */ INSERT INTO t (c1) VALUES ('b');
/* tx1 */ BEGIN;
/* tx1 */ DELETE FROM t;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET c1 = 'c';
/* tx1 */ ROLLBACK;
/* tx2 */ COMMIT;
/* tx2 */ SELECT * FROM t;
