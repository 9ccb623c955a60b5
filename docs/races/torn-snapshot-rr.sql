-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mariadb:11.8
-- server_version: 11.8.9-MariaDB-4 from Debian
-- kind: torn-snapshot
-- stmt: step 3, tx1: SELECT * FROM t
-- expected: (1,1) (2,1)
-- actual: (1,0) (2,1)
-- reason: the answer has what tx2 committed and not what tx3 had committed, which was over before: no moment has such a state. What is promised: a plain SELECT sees the snapshot, and a locking read or a write of a row that was changed after it fails with error 1020 (https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation)
-- reproduced: 10/10
-- hold: tx1 1 at fn_ec92a0+0xbb of e1821821a892eac33ee9f1fdbd865b01195881aa hit 1 until tx2 3

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 0), (2, 0);
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 1 WHERE a = 2;
/* tx1 */ SELECT * FROM t;
/* tx3 */ UPDATE t SET b = 1 WHERE a = 1;
/* tx2 */ COMMIT;
