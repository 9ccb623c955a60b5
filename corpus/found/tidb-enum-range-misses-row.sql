-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- kind: non-repeatable-read
-- stmt: step 5, tx1: SELECT * FROM t WHERE b < 'y'
-- expected: (3,x) (1,x)
-- actual: (3,x)
-- note: of a comparison with an ENUM TiDB makes a list of the members that satisfy it, and looks each of them up by the unique key; so does a row comparison, LIKE without a wildcard, and a text column between two equal bounds
-- fingerprint: known/unique-lookup-trusts-snapshot-index/RR/enum-range
-- reproduced: 10/10
-- verdict (embedded, RR): known unique-lookup-trusts-snapshot-index
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known unique-lookup-trusts-snapshot-index
-- verdict (tidb 2024-07, RR): known unique-lookup-trusts-snapshot-index
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b ENUM('x', 'y', 'z') UNIQUE KEY);
/* init */ INSERT INTO t VALUES (1, 'x');
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET b = 'z' WHERE a = 1;
/* tx1 */ INSERT INTO t VALUES (3, 'x');
/* tx1 */ SELECT * FROM t WHERE b < 'y';
