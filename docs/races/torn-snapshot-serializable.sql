-- level: SERIALIZABLE
-- source: txnfuzz
-- target: mariadb:11.8
-- server_version: 11.8.9-MariaDB-4 from Debian
-- kind: not-serializable
-- anomaly: long fork (G-nonadjacent)
-- stmt: step 3, tx1: SELECT * FROM t
-- expected: (1,1) (2,1)
-- actual: (1,0) (2,1)
-- reason: no serial order of the committed transactions gives these answers, run by the server itself one after the other; in the order of their ends (tx3, tx3, tx2, tx1) this is the first difference. What is promised: a plain SELECT in a transaction reads and locks as SELECT ... FOR SHARE does, so that there is a serial order (https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html)
-- reproduced: 10/10
-- hold: tx1 1 at fn_ec92a0+0x19c of e1821821a892eac33ee9f1fdbd865b01195881aa hit 1 until tx2 3

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 0), (2, 0);
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 1 WHERE a = 2;
/* tx1 */ SELECT * FROM t;
/* tx3 */ UPDATE t SET b = 1 WHERE a = 1;
/* tx3 */ SELECT * FROM t;
/* tx2 */ COMMIT;
