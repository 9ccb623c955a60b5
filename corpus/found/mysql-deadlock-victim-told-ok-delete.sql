-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mysql:9.7
-- server_version: 9.7.4-2
-- kind: lost-transaction
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

/* init */ CREATE TABLE parent (id INT PRIMARY KEY, v INT);
/* init */ CREATE TABLE child (id INT PRIMARY KEY, p INT, KEY (p), FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE);
/* init */ INSERT INTO parent VALUES (1, 0), (2, 0), (5, 0);
/* init */ INSERT INTO child VALUES (10, 1), (11, 1);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ INSERT INTO child VALUES (21, 5), (22, 5), (23, 5), (24, 5);
/* tx2 */ UPDATE child SET id = 12 WHERE id = 11;
/* tx1 */ INSERT INTO parent VALUES (4, 0);
/* tx1 */ DELETE FROM parent WHERE id = 1;
/* tx2 */ UPDATE parent SET v = 2 WHERE id = 1;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
