-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- seed: yes
-- server_version: 8.0.11-TiDB-None
-- settings: innodb_lock_wait_timeout=2; pessimistic-auto-commit=true; sql_mode=ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION; store=unistore; tidb_constraint_check_in_place_pessimistic=1; tidb_enable_metadata_lock=0; tidb_enable_noop_functions=OFF; tidb_pessimistic_txn_fair_locking=1; tidb_rc_read_check_ts=0; tidb_txn_mode=pessimistic
-- kind: wrong-rows
-- rules: unique-lookup-trusts-snapshot-index
-- stmt: step 4, tx1: SELECT * FROM t WHERE a = ''
-- expected: no rows
-- actual: (0)
-- reason: the SELECT returned other rows than its view holds; under the deviation "unique-lookup-trusts-snapshot-index" (https://docs.pingcap.com/tidb/stable/transaction-isolation-levels) the whole history is what the server does: a SELECT by a whole secondary unique key finds the row by the snapshot's index entry and returns the own transaction's version of it, although that has another key; if the transaction deleted the row, it fails with error 8133
-- fingerprint: known/unique-lookup-trusts-snapshot-index/RR
-- reproduced: 10/10
-- verdict (embedded, RR): known unique-lookup-trusts-snapshot-index
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): known unique-lookup-trusts-snapshot-index
-- verdict (tidb 2024-07, RR): known unique-lookup-trusts-snapshot-index
-- verdict (postgres 18, RR): ok
-- first_seen: 2026-11-21T04:55:13Z
-- input: seed 2142719367, worker 1, input 225, order 0

/* init */ CREATE TABLE t (a VARCHAR(10), UNIQUE(a));
/* init */ INSERT INTO t VALUES ('');
/* tx1 */ BEGIN;
/* tx2 */ UPDATE t SET a = 1;
/* tx1 */ UPDATE t SET a = 0;
/* tx1 */ SELECT * FROM t WHERE a = '';
/* tx1 */ COMMIT;
