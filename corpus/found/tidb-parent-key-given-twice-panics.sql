-- level: REPEATABLE READ
-- source: txnfuzz
-- target: embedded
-- server_version: 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af
-- kind: server-crash
-- stmt: none; the final state, or the run as a whole
-- expected: the server goes on
-- actual: panic: runtime error: invalid memory address or nil pointer dereference, in github.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*MVCCStore).prewritePessimistic (mvcc.go:884)
-- reason: the server ended the session on an internal error
-- note: the UPDATE gives a row the primary key of another one, which is not noticed, as in tidb-parent-key-given-twice.sql; a lock that its transaction needs is gone when it commits
-- fingerprint: server-crash/233d70df/parent-key
-- verdict (embedded, RR): violation server-crash
-- verdict (mariadb 11.8, RR): ok
-- verdict (mariadb 11.8,snapshot=off, RR): ok
-- verdict (mariadb 10.11, RR): ok
-- verdict (mariadb 10.11,snapshot=on, RR): ok
-- verdict (mariadb 10.5, RR): ok
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): violation server-crash
-- verdict (tidb 2024-07, RR): violation server-crash
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* init */ CREATE TABLE t2 (a INT PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES t(a) ON DELETE CASCADE ON UPDATE CASCADE);
/* init */ INSERT INTO t VALUES (1), (0), (2);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO t2 VALUES (0, 1);
/* tx2 */ INSERT INTO t2 VALUES (0, 0);
/* tx1 */ UPDATE t SET a = 0 WHERE a = 2;
/* tx1 */ COMMIT;
