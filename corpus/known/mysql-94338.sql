-- source: https://bugs.mysql.com/bug.php?id=94338 (ReplBug fig. 4.10)
-- reported: READ COMMITTED, REPEATABLE READ
-- status: gone since MySQL 8.0
-- note: rows of the INSERT cut down
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
-- verdict (postgres 18, RU RC): unknown unsupported
-- verdict (postgres 18, RR SER): unknown promise not judged

/* init */ CREATE TABLE t1 (a_id BIGINT NOT NULL, b_id BIGINT NOT NULL);
/* init */ CREATE TABLE t2 (id BIGINT NOT NULL AUTO_INCREMENT, a_id BIGINT NOT NULL, b_id BIGINT NOT NULL, c_code CHAR(1) NOT NULL, c_id BIGINT NOT NULL, state TINYINT(1) NOT NULL, PRIMARY KEY (id), KEY secondary (a_id, b_id, c_code, c_id, state));
/* init */ INSERT INTO t1 (a_id, b_id) VALUES (1, 18), (1, 19);
/* init */ INSERT INTO t2 (a_id, b_id, c_code, c_id, state) VALUES (1, 18, 'B', 10, 1), (1, 19, 'B', 10, 1), (1, 18, 'B', 11, 0), (1, 19, 'B', 11, 0), (1, 18, 'C', 12, 1), (1, 19, 'C', 12, 1), (1, 18, 'C', 13, 1);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ SELECT t1.b_id FROM t1 WHERE t1.a_id = 1 AND IFNULL(1 = (SELECT state FROM t2 FORCE INDEX (secondary) WHERE a_id = 1 AND b_id = t1.b_id AND (c_code = 'A' AND c_id = 11 OR c_code = 'B' AND c_id = 11) ORDER BY state LIMIT 1), 1) LIMIT 10;
/* tx2 */ INSERT INTO t2 (a_id, b_id, c_code, c_id, state) VALUES (1, 22, 'B', 10, 1), (1, 23, 'B', 10, 1), (1, 22, 'B', 11, 0), (1, 23, 'B', 11, 0), (1, 22, 'C', 15, 1), (1, 23, 'C', 12, 1);
/* tx1 */ SELECT t1.b_id FROM t1 WHERE t1.a_id = 1 AND IFNULL(1 = (SELECT state FROM t2 FORCE INDEX (secondary) WHERE a_id = 1 AND b_id = t1.b_id AND (c_code = 'A' AND c_id = 11 OR c_code = 'B' AND c_id = 11) ORDER BY state LIMIT 1), 1) LIMIT 10;
/* tx2 */ COMMIT;
/* tx1 */ SELECT t1.b_id FROM t1 WHERE t1.a_id = 1 AND IFNULL(1 = (SELECT state FROM t2 FORCE INDEX (secondary) WHERE a_id = 1 AND b_id = t1.b_id AND (c_code = 'A' AND c_id = 11 OR c_code = 'B' AND c_id = 11) ORDER BY state LIMIT 1), 1) LIMIT 10;
/* tx1 */ COMMIT;
