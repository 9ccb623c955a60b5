-- source: https://github.com/pingcap/tidb/issues/36718
-- reported: REPEATABLE READ
-- status: Question
-- note: an UPDATE that changes nothing leaves the snapshot's row to be seen
-- verdict (embedded, RC): ok
-- verdict (embedded, RR): known no-op-update-unseen
-- verdict (mariadb 11.8, RU RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC SER): ok
-- verdict (mariadb 11.8,snapshot=off, RR): known no-op-update-unseen
-- verdict (mariadb 10.11, RU RC SER): ok
-- verdict (mariadb 10.11, RR): known no-op-update-unseen
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC SER): ok
-- verdict (mariadb 10.5, RR): known no-op-update-unseen
-- verdict (mysql 9.7, RU RC SER): ok
-- verdict (mysql 9.7, RR): known no-op-update-unseen
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC): ok
-- verdict (tidb 2025-11, RR): known no-op-update-unseen
-- verdict (tidb 2024-07, RC): ok
-- verdict (tidb 2024-07, RR): known no-op-update-unseen
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE t (k INTEGER, v INTEGER, PRIMARY KEY (k));
/* init */ INSERT INTO t (k, v) VALUES (1, 1);
/* tx1 */ START TRANSACTION;
/* tx2 */ START TRANSACTION;
/* tx1 */ UPDATE t SET v = 2 WHERE k = 1;
/* tx2 */ SELECT k, v FROM t WHERE v = 88;
/* tx1 */ COMMIT;
/* tx2 */ UPDATE t SET v = 2 WHERE k = 1;
/* tx2 */ SELECT k, v FROM t WHERE k = 1;
/* tx2 */ COMMIT;
