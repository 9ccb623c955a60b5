-- level: READ UNCOMMITTED
-- source: txnfuzz
-- target: mysql:9.7
-- seed: 20
-- server_version: 9.7.4-2
-- kind: wrong-rows
-- rules: read-ends-at-row-amid-key-change
-- stmt: step 5, tx3: SELECT * FROM t WHERE b = 3 OR a = 7
-- expected: (0,3,0)
-- actual: no rows
-- explained: the row (0,3,0) is committed and nobody touches it, yet tx3 gets nothing; sent again after the commits the same SELECT returns it. tx2's UPDATE has marked the record with key 1 deleted and waits to insert key 4, which tx1 has locked. tx3 merges two indexes: it collects the keys 1 (the index on a still leads there) and 3, looks 1 up first, does not find it, and MySQL takes that for the end. Rows with smaller keys would be returned, those behind are lost. The manual lets READ UNCOMMITTED see other versions of a row, not lose rows that have one version only. MariaDB 10.5, 10.11 and 11.8 fail with error 1032, "Can't find record".
-- link: https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html
-- link: https://dev.mysql.com/doc/refman/en/index-merge-optimization.html
-- fingerprint: known/read-ends-at-row-amid-key-change/RU
-- reproduced: 10/10
-- verdict (mariadb 11.8, RU): known row-amid-key-change-not-found
-- verdict (mariadb 11.8,snapshot=off, RU): known row-amid-key-change-not-found
-- verdict (mariadb 10.11, RU): known row-amid-key-change-not-found
-- verdict (mariadb 10.11,snapshot=on, RU): known row-amid-key-change-not-found
-- verdict (mariadb 10.5, RU): known row-amid-key-change-not-found
-- verdict (mysql 9.7, RU): known read-ends-at-row-amid-key-change
-- verdict (mysql 9.7,binlog=off, RU): known read-ends-at-row-amid-key-change
-- verdict (postgres 18, RU): ok

/* init */ CREATE TABLE t (a INT, b INT PRIMARY KEY, c INT, INDEX(a));
/* init */ INSERT INTO t VALUES (7, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 0), (0, 5, 0), (0, 6, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE b = 4 FOR UPDATE;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET b = 4 WHERE b = 1;
/* tx3 */ SELECT * FROM t WHERE b = 3 OR a = 7;
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
/* tx3 */ SELECT * FROM t WHERE b = 3 OR a = 7;
