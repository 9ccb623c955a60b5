-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- seed: yes
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: wrong-rows
-- rules: key-change-leaves-old-row
-- stmt: step 4, tx1: SELECT * FROM t
-- expected: (1,1)
-- actual: (0,0) (1,1)
-- reason: the SELECT returned other rows than its view holds; under the deviation "key-change-leaves-old-row" (https://github.com/pingcap/tidb/issues/48960) the whole history is what the server does: an UPDATE of the primary key deletes a row and inserts another, so that a snapshot shows the old one beside the new one
-- fingerprint: known/key-change-leaves-old-row/RR
-- reproduced: 10/10
-- verdict (embedded, RR): known key-change-leaves-old-row
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known key-change-leaves-old-row
-- verdict (tidb 2024-07, RR): known key-change-leaves-old-row
-- verdict (postgres 18, RR): ok
-- first_seen: 2026-11-21T04:53:07Z
-- input: seed 2278527509, worker 1, input 13, order 0

/* init */ CREATE TABLE t (a INT, b INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx2 */ UPDATE t SET b = 1;
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
