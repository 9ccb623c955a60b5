-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- seed: 3
-- server_version: 8.0.11-TiDB-None
-- kind: wrong-count
-- rules: restarted-lookup-clamps-values
-- stmt: step 4, tx2: DELETE FROM t WHERE b IN (0, -200)
-- expected: 1 affected
-- actual: 2 affected
-- reason: -200 is beyond TINYINT, so no row has it. The first attempt to look it up in the unique key overwrites the statement's list with the value converted to the column's type, -128; when the statement starts again because of the wait, it finds and deletes the row with -128
-- fingerprint: known/restarted-lookup-clamps-values/RR
-- reproduced: 10/10
-- found: as UPDATE t SET a = 0 WHERE b IN (256, 0) with TINYINT UNSIGNED at READ COMMITTED, seed 777, worker 0, input 1683, order 0; this form, which loses a row, was written by hand from the cause
-- verdict (embedded, RR): known restarted-lookup-clamps-values
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known restarted-lookup-clamps-values
-- verdict (tidb 2024-07, RR): known restarted-lookup-clamps-values
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT, b TINYINT UNIQUE KEY);
/* init */ INSERT INTO t VALUES (0, 0), (1, -128);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET a = 5 WHERE b = 0;
/* tx2 */ DELETE FROM t WHERE b IN (0, -200);
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
