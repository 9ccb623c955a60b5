-- level: SERIALIZABLE
-- source: txnfuzz
-- target: mysql:9.7
-- seed: yes
-- server_version: 9.7.4-2
-- kind: wrong-rows
-- stmt: step 3, tx2: SELECT * FROM t WHERE b = 0 LOCK IN SHARE MODE
-- expected: (1,0)
-- actual: no rows
-- explained: the table holds one row all the time, and its b is 0 all the time. tx2 waits for the row's entry (0,2) in the index on b; tx1 changes the primary key from 2 to 1, which marks that entry deleted and puts (0,1) in front of it, and commits. tx2 goes on behind the place where it waited and finds nothing; the same statement sent again returns the row. No serial order of the two transactions makes a look-up of b = 0 come back empty. The manual promises serializable reads by shared locks; MDEV-27992 and MySQL#104833 report lost rows of this sort at weaker levels. MariaDB ends it with a deadlock.
-- link: https://dev.mysql.com/doc/refman/en/innodb-transaction-isolation-levels.html
-- fingerprint: known/moved-row/SER
-- verdict (mysql 9.7, SER): known moved-row
-- verdict (mysql 9.7,binlog=off, SER): known moved-row
-- verdict (mariadb 11.8, SER): ok
-- verdict (mariadb 11.8,snapshot=off, SER): ok
-- verdict (mariadb 10.11, SER): ok
-- verdict (mariadb 10.11,snapshot=on, SER): ok
-- verdict (mariadb 10.5, SER): ok
-- verdict (postgres 18, SER): ok

/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE);
/* init */ INSERT INTO t VALUES (2, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE b = 0 FOR UPDATE;
/* tx2 */ SELECT * FROM t WHERE b = 0 LOCK IN SHARE MODE;
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t WHERE b = 0 LOCK IN SHARE MODE;
