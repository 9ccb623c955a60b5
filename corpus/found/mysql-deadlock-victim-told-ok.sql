-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mysql:9.7
-- server_version: 9.7.4-2
-- kind: lost-transaction
-- stmt: step 4, tx2: UPDATE t SET a = 0 WHERE a = 2
-- expected: the transaction that it is in stays open
-- actual: the server says that no transaction is open
-- reason: nothing had ended the transaction, and the server told no error
-- note: the UPDATE waits for the child row of its cascade and is chosen as the victim of the deadlock; the server rolls its transaction back and answers that one row matched
-- fingerprint: promise/lost-transaction/UPDATE/RR
-- verdict (embedded, RR): violation unexpected-error
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): violation lost-transaction
-- verdict (mysql 9.7,binlog=off, RR): violation lost-transaction
-- verdict (tidb 2025-11, RR): violation server-log
-- verdict (tidb 2024-07, RR): violation server-log
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE KEY);
/* init */ CREATE TABLE t2 (a INT, FOREIGN KEY (a) REFERENCES t(a) ON DELETE SET NULL ON UPDATE CASCADE);
/* init */ INSERT INTO t VALUES (2, 0), (1, 1);
/* init */ INSERT INTO t2 VALUES (2);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 0 WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 0 WHERE a = 2;
/* tx2 */ COMMIT;
/* tx1 */ UPDATE t2 SET a = 0;
/* tx1 */ COMMIT;
