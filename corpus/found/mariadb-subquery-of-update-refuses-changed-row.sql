-- level: READ COMMITTED
-- source: txnfuzz
-- target: mariadb:11.8
-- server_version: 11.8.9-MariaDB-4 from Debian
-- kind: unexpected-error
-- stmt: step 3, tx2: UPDATE t SET a = 0 WHERE 0 <= (SELECT a FROM t2)
-- expected: 0 matched, 0 changed
-- actual: error 1020 (Record has changed since last read in table 't'; try restarting transaction)
-- explained: with snapshot isolation, the default since 11.6.2, a lock on a record that the current read view does not show is error 1020 (https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation). READ COMMITTED has no read view between consistent reads, so that a plain UPDATE never fails so there; but the subquery is a consistent read, and leaves its read view open for the rest of the statement. Documented taken literally, so not called a violation; a client that retries on deadlocks only will not expect it at READ COMMITTED.
-- link: https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation
-- reproduced: 10/10
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): ok
-- verdict (mysql 9.7,binlog=off, RC): ok
-- verdict (embedded, RC): ok
-- verdict (tidb 2025-11, RC): ok
-- verdict (tidb 2024-07, RC): ok
-- verdict (postgres 18, RC): ok

/* init */ CREATE TABLE t (a INT);
/* init */ CREATE TABLE t2 (a INT);
/* init */ INSERT INTO t VALUES (0);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t VALUES (0);
/* tx2 */ UPDATE t SET a = 0 WHERE 0 <= (SELECT a FROM t2);
/* tx1 */ COMMIT;
