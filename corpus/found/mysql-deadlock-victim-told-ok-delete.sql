-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mysql:9.7
-- server_version: 9.7.4-2
-- kind: lost-transaction
-- stmt: step 5, tx2: DELETE FROM t WHERE a
-- expected: the transaction that it is in stays open
-- actual: the server says that no transaction is open
-- reason: nothing had ended the transaction, and the server told no error
-- note: the DELETE waits for the second child row of its cascade and is chosen as the victim of the deadlock; the server rolls its transaction back and answers that no row was deleted; found by the workload parent-child of txnfuzz load
-- fingerprint: promise/lost-transaction/DELETE/RR
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): violation lost-transaction
-- verdict (mysql 9.7,binlog=off, RR): violation lost-transaction
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ CREATE TABLE t2 (a INT PRIMARY KEY, b INT, CONSTRAINT FOREIGN KEY (b) REFERENCES t(a) ON DELETE CASCADE);
/* init */ INSERT INTO t VALUES (1, 0);
/* init */ INSERT INTO t2 VALUES (0, 1), (2, 1);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t2 VALUES (0, 0);
/* tx1 */ UPDATE t2 SET a = 1 WHERE a;
/* tx2 */ BEGIN;
/* tx2 */ DELETE FROM t WHERE a;
/* tx2 */ COMMIT;
/* tx1 */ UPDATE t SET b = 0;
/* tx1 */ COMMIT;
