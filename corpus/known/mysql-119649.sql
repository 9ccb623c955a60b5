-- source: https://bugs.mysql.com/bug.php?id=119649
-- reported: SERIALIZABLE
-- note: SERIALIZABLE reads lock, so that a consistent snapshot means nothing to them
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): unknown refused

/* init */ CREATE TABLE mtest (x INT DEFAULT 0, c0 VARCHAR(20));
/* init */ INSERT INTO mtest (c0, x) VALUES ('<X?', 59);
/* init */ INSERT IGNORE INTO mtest (c0) VALUES ('[]]');
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx2 */ UPDATE mtest SET c0 = 'p9#|' WHERE TRUE;
/* tx2 */ COMMIT;
/* tx1 */ SELECT * FROM mtest WHERE TRUE;
/* tx1 */ COMMIT;
