-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: missing-error
-- rules: upsert-looks-in-snapshot
-- stmt: step 3, tx1: INSERT INTO t VALUES (0, 1) ON DUPLICATE KEY UPDATE a = 0
-- expected: error 1062
-- actual: 0 affected
-- reason: the INSERT had to fail with error 1062; under the deviation "upsert-looks-in-snapshot" (https://dev.mysql.com/doc/refman/en/insert-on-duplicate.html) the whole history is what the server does: the new row of an INSERT … ON DUPLICATE KEY UPDATE has a key of one row and another key of a second row. If the second row was committed after the snapshot, TiDB does not meet it, although a write works on the newest data, and changes the first row, whatever the order of the keys. (Which of the two is changed the manual of MySQL leaves open, and advises against such statements.)
-- fingerprint: known/upsert-looks-in-snapshot/RR
-- reproduced: 10/10
-- verdict (embedded, RR): known upsert-looks-in-snapshot
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known upsert-looks-in-snapshot
-- verdict (tidb 2024-07, RR): known upsert-looks-in-snapshot
-- verdict (postgres 18, RR): unknown refused

/* init */ CREATE TABLE t (a INT UNIQUE KEY, b INT PRIMARY KEY);
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx2 */ INSERT INTO t VALUES (1, 1);
/* tx1 */ INSERT INTO t VALUES (0, 1) ON DUPLICATE KEY UPDATE a = 0;
