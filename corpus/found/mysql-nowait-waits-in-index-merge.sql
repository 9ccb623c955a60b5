-- level: READ COMMITTED
-- source: txnfuzz
-- target: mysql:9.7
-- server_version: 9.7.4-2
-- kind: nowait-waited
-- rules: nowait-waits-in-index-merge
-- stmt: step 3, tx2: SELECT * FROM t WHERE a = 1 OR b = 1 FOR UPDATE NOWAIT
-- expected: error 3572
-- actual: (1,1,1)
-- explained: the statement merges two indexes, each of which is read through a handler of its own, and these do not know of NOWAIT: the statement waits until tx1 commits, or until innodb_lock_wait_timeout. SKIP LOCKED waits just so in place of passing the row. With one of the two conditions alone both do what the manual says. A queue that workers empty with SKIP LOCKED, and a condition on two indexed columns, then works one worker at a time.
-- link: https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked
-- fingerprint: known/nowait-waits-in-index-merge/RC
-- reproduced: 10/10
-- verdict (embedded, RC): ok
-- verdict (mariadb 11.8, RC): ok
-- verdict (mariadb 11.8,snapshot=off, RC): ok
-- verdict (mariadb 10.11, RC): ok
-- verdict (mariadb 10.11,snapshot=on, RC): ok
-- verdict (mariadb 10.5, RC): ok
-- verdict (mysql 9.7, RC): known nowait-waits-in-index-merge
-- verdict (mysql 9.7,binlog=off, RC): known nowait-waits-in-index-merge
-- verdict (tidb 2025-11, RC): ok
-- verdict (tidb 2024-07, RC): ok
-- verdict (postgres 18, RC): ok

/* init */ CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY (a), KEY (b));
/* init */ INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE id = 1 FOR UPDATE;
/* tx2 */ SELECT * FROM t WHERE a = 1 OR b = 1 FOR UPDATE NOWAIT;
/* tx1 */ COMMIT;
