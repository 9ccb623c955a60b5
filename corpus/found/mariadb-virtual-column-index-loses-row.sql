-- level: REPEATABLE READ
-- source: txnfuzz
-- target: mariadb:11.8
-- server_version: 11.8.9-MariaDB-4 from Debian
-- kind: stale-read
-- stmt: step 4, tx2: SELECT * FROM t WHERE b ORDER BY a
-- expected: (1,1)
-- actual: no rows
-- reason: it misses a row that was committed before it
-- note: an index on a VIRTUAL column; another transaction that has written anything is open. Without ORDER BY, or without the index, the row is there. Found by a reader who wrote cases by hand
-- fingerprint: stale-read/SELECT/RR/virtual-column
-- verdict (embedded, RR): ok
-- verdict (mariadb 11.8, RR): violation stale-read
-- verdict (mariadb 11.8,snapshot=off, RR): violation stale-read
-- verdict (mariadb 10.11, RR): violation stale-read
-- verdict (mariadb 10.11,snapshot=on, RR): violation stale-read
-- verdict (mariadb 10.5, RR): violation stale-read
-- verdict (mysql 9.7, RR): ok
-- verdict (mysql 9.7,binlog=off, RR): ok
-- verdict (tidb 2025-11, RR): ok
-- verdict (tidb 2024-07, RR): ok
-- verdict (postgres 18, RR): ok

/* init */ CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS(a) VIRTUAL, INDEX(b));
/* init */ CREATE TABLE u (a INT);
/* init */ INSERT INTO t (a) VALUES (0);
/* tx1 */ BEGIN;
/* tx1 */ INSERT INTO u VALUES (1);
/* tx2 */ UPDATE t SET a = 1;
/* tx2 */ SELECT * FROM t WHERE b ORDER BY a;   -- no rows
/* tx1 */ COMMIT;
