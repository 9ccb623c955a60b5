-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- kind: unexpected-error
-- stmt: step 3, tx1: INSERT INTO c VALUES (1)
-- expected: 1 row affected
-- actual: error 1452
-- reason: run alone on the newest committed rows and its own, the server itself answers otherwise
-- note: the row of p was committed before the INSERT began; the foreign key is checked on older rows
-- link: https://github.com/pingcap/tidb/issues/70600
-- fingerprint: promise/unexpected-error/INSERT/RC
-- verdict (embedded, RC): violation unexpected-error
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): ok
-- verdict (mysql 9.7,binlog=off, RC): ok
-- verdict (tidb 2025-11, RC): violation unexpected-error
-- verdict (tidb 2024-07, RC): violation unexpected-error
-- verdict (postgres 18, RC): ok

/* init */ CREATE TABLE p (a INT PRIMARY KEY);
/* init */ CREATE TABLE c (a INT, FOREIGN KEY (a) REFERENCES p(a));
/* tx1 */ BEGIN;
/* tx2 */ INSERT INTO p VALUES (1);
/* tx1 */ INSERT INTO c VALUES (1);
/* tx1 */ COMMIT;
