-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- kind: unexpected-error
-- stmt: step 3, tx1: COMMIT
-- expected: no error
-- actual: error 8141 (assertion failed)
-- reason: nothing keeps this transaction from being committed
-- note: the UPDATE gives a row the primary key of another one and is told that it has changed one row, where error 1062 is due; COMMIT then fails by an assertion. Without the table c the UPDATE fails, as it should
-- fingerprint: promise/unexpected-error/COMMIT/RR
-- verdict (embedded, RR): violation unexpected-error
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): violation server-log
-- verdict (tidb 2024-07, RR): violation server-log
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE p (a INT PRIMARY KEY);
/* init */ CREATE TABLE c (a INT, FOREIGN KEY (a) REFERENCES p(a) ON UPDATE CASCADE);
/* init */ INSERT INTO p VALUES (0), (1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE p SET a = 0 WHERE a = 1;
/* tx1 */ COMMIT;
