-- source: txnfuzz
-- target: mariadb:11.8
-- seed: yes
-- server_version: 11.8.9-MariaDB-4 from Debian
-- kind: missing-error
-- rules: record-changed-unseen
-- stmt: step 3, tx1: SELECT b FROM t LOCK IN SHARE MODE
-- expected: error 1020
-- actual: (2)
-- explained: tx1 locks a row that tx2 changed and committed after tx1's snapshot. The manual promises error 1020 with innodb_snapshot_isolation. The index on b alone answers the SELECT, and only the look-up of the whole row compares it with the snapshot.
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC): ok
-- verdict (mariadb 11.8, RR SER): known record-changed-unseen
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC): ok
-- verdict (mariadb 10.11,snapshot=on, RR SER): known record-changed-unseen
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT, KEY (b));
/* init */ INSERT INTO t VALUES (1, 1);
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ UPDATE t SET b = 2;
/* tx1 */ SELECT b FROM t LOCK IN SHARE MODE;
/* tx1 */ COMMIT;
