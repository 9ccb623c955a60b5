-- level: READ COMMITTED
-- source: txnfuzz
-- target: mariadb:11.8
-- server_version: 11.8.9-MariaDB-4 from Debian
-- kind: skip-locked-waited
-- rules: skip-locked-waits-in-index-merge
-- stmt: step 3, tx2: SELECT * FROM t WHERE a = 1 OR b = 1 FOR UPDATE SKIP LOCKED
-- expected: no rows at once
-- actual: waited, then (1,1,1)
-- explained: the statement merges two indexes, each of which is read through a handler of its own, and these do not know of SKIP LOCKED: the statement waits until tx1 commits, or until innodb_lock_wait_timeout, in place of leaving the row out. With one of the two conditions alone, or with optimizer_switch=index_merge=off, it does what the manual says. NOWAIT fails at once here, since MariaDB makes the time-out 0 for it. A queue that workers empty with SKIP LOCKED, and a condition on two indexed columns, then works one worker at a time.
-- link: https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/selecting-data/select-skip-locked
-- fingerprint: known/skip-locked-waits-in-index-merge/RC
-- reproduced: 10/10
-- verdict (mariadb 11.8, RC): known skip-locked-waits-in-index-merge
-- verdict (mariadb 11.8,snapshot=off, RC): known skip-locked-waits-in-index-merge
-- verdict (mariadb 10.11, RC): known skip-locked-waits-in-index-merge
-- verdict (mariadb 10.11,snapshot=on, RC): known skip-locked-waits-in-index-merge
-- verdict (mysql 9.7, RC): known nowait-waits-in-index-merge
-- verdict (mysql 9.7,binlog=off, RC): known nowait-waits-in-index-merge
-- verdict (embedded, RC): unknown unsupported
-- verdict (mariadb 10.5, RC): unknown stale
-- verdict (tidb 2025-11, RC): unknown unsupported
-- verdict (tidb 2024-07, RC): unknown unsupported
-- verdict (postgres 18, RC): unknown unsupported

/* init */ CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY (a), KEY (b));
/* init */ INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1 FOR UPDATE;
/* tx2 */ SELECT * FROM t WHERE a = 1 OR b = 1 FOR UPDATE SKIP LOCKED;
/* tx1 */ COMMIT;
