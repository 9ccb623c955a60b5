-- level: READ COMMITTED
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- kind: orphan
-- stmt: none; the final state, or the run as a whole
-- expected: each row refers to one that is there
-- actual: c (1) refers to no row of p
-- reason: a foreign key must hold with all transactions ended
-- note: tx2 waits for the lock that tx1's INSERT took on the row of p, and goes on when tx1 has committed, but does not look for rows that refer to it again. Without the INSERT into x it does, and fails with error 1451
-- link: https://github.com/pingcap/tidb/issues/62850
-- fingerprint: promise/orphan/RC
-- verdict (embedded, RC): violation orphan
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): ok
-- verdict (mysql 9.7,binlog=off, RC): ok
-- verdict (tidb 2025-11, RC): violation orphan
-- verdict (tidb 2024-07, RC): violation orphan
-- verdict (postgres 18, RC): ok

/* init */ CREATE TABLE p (a INT PRIMARY KEY);
/* init */ CREATE TABLE c (a INT, FOREIGN KEY (a) REFERENCES p(a));
/* init */ CREATE TABLE x (a INT);
/* init */ INSERT INTO p VALUES (1);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO x VALUES (0);
/* tx1 */ INSERT INTO c VALUES (1);
/* tx2 */ DELETE FROM p WHERE a = 1;   -- waits
/* tx1 */ COMMIT;
