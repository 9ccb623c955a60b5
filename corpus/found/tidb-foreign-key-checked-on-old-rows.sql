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

/* init */ CREATE TABLE p (a INT PRIMARY KEY);
/* init */ CREATE TABLE c (a INT, FOREIGN KEY (a) REFERENCES p(a));
/* tx1 */ BEGIN;
/* tx2 */ INSERT INTO p VALUES (1);
/* tx1 */ INSERT INTO c VALUES (1);
/* tx1 */ COMMIT;
