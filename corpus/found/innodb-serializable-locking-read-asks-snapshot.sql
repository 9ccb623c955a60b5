-- level: SERIALIZABLE
-- source: txnfuzz
-- target: mysql:9.7
-- server_version: 9.7.4-2
-- seed: 3
-- kind: wrong-rows
-- rules: locking-read-asks-snapshot
-- stmt: step 4, tx1: SELECT * FROM t WHERE b IN (SELECT y + 0 FROM u) FOR UPDATE
-- expected: (1,1) (2,3)
-- actual: (1,1)
-- explained: tx2 sets b of row 2 to 3 and inserts 3 into u, and commits both at once. Before tx2 the SELECT gives both rows (b is 1 and 2, u holds 1 and 2), after it both, too (1 and 3; 1, 2 and 3). It gives one: it locks t and reads what is newest there, but its subquery, outside of a transaction, is a consistent read of the state before tx2. At SERIALIZABLE with autocommit a SELECT is said to be "known to be read only" and to "be serialized if performed as a consistent (nonlocking) read" (https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html#isolevel_serializable); one with FOR UPDATE is half of each. Inside BEGIN and COMMIT the subquery locks, too, and the answer is right.
-- link: https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html#isolevel_serializable
-- fingerprint: known/locking-read-asks-snapshot/SER
-- reproduced: 10/10
-- verdict (mysql 9.7, SER): known locking-read-asks-snapshot
-- verdict (mysql 9.7,binlog=off, SER): known locking-read-asks-snapshot
-- verdict (mariadb 10.11, SER): known locking-read-asks-snapshot
-- verdict (mariadb 10.5, SER): known locking-read-asks-snapshot
-- verdict (mariadb 11.8, SER): ok
-- verdict (mariadb 11.8,snapshot=off, SER): ok
-- verdict (mariadb 10.11,snapshot=on, SER): ok
-- verdict (postgres 18, SER): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ CREATE TABLE u (y INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (1,1),(2,2);
/* init */ INSERT INTO u VALUES (1),(2);
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 3 WHERE a = 2;
/* tx2 */ INSERT INTO u VALUES (3);
/* tx1 */ SELECT * FROM t WHERE b IN (SELECT y + 0 FROM u) FOR UPDATE;
/* tx2 */ COMMIT;
