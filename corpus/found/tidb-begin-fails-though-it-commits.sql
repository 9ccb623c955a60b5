-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-None
-- kind: unexpected-error
-- rules: commit-locks-what-a-failed-update-met
-- stmt: step 6, tx1: BEGIN
-- expected: no error
-- actual: error 1205 (Lock wait timeout exceeded; try restarting transaction)
-- explained: BEGIN commits the open transaction first (https://docs.pingcap.com/tidb/stable/transaction-overview#starting-a-transaction). The new transaction then waits for tx2, for a lock on a row that the old one's failed UPDATE had met, and BEGIN fails with 1205; yet the rows 1 and 2 of tx1 are committed: tx2's UPDATE already fails on one of them as a duplicate, and both are there at the end. A client that is told of the error and runs its transaction again inserts twice. With COMMIT in the place of BEGIN the transaction is a deadlock's victim and nothing is committed.
-- link: https://docs.pingcap.com/tidb/stable/transaction-overview#starting-a-transaction
-- fingerprint: known/commit-locks-what-a-failed-update-met/RR
-- reproduced: 10/10
-- verdict (embedded, RR): known commit-locks-what-a-failed-update-met
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known commit-locks-what-a-failed-update-met
-- verdict (tidb 2024-07, RR): known commit-locks-what-a-failed-update-met
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (0);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (2), (1);
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 1;
/* tx1 */ UPDATE t SET a = 0;
/* tx1 */ BEGIN;
