-- source: written by hand
-- seed: no, because it guards the judgement of one form of SQL
-- note: tx2 waits or passes over the row that tx1 has changed; the end state is the promised one, whatever the counts of its UPDATE
-- expected: on MariaDB 11.8 at RU the number of changed rows is a known deviation, and nothing else
-- verdict (embedded, RC RR): ok
-- verdict (mariadb 11.8, RU): known semi-consistent-read-uncommitted
-- verdict (mariadb 11.8, RC RR SER): ok
-- verdict (mariadb 11.8,snapshot=off, RU RC RR SER): ok
-- verdict (mariadb 10.11, RU RC RR SER): ok
-- verdict (mariadb 10.11,snapshot=on, RU): known semi-consistent-read-uncommitted
-- verdict (mariadb 10.11,snapshot=on, RC RR SER): ok
-- verdict (mariadb 10.5, RU RC RR SER): ok
-- verdict (mysql 9.7, RU RC RR SER): ok
-- verdict (mysql 9.7,binlog=off, RU RC RR SER): ok
-- verdict (tidb 2025-11, RC RR): ok
-- verdict (tidb 2024-07, RC RR): ok
-- verdict (postgres 18, RU RC RR SER): ok

/* init */ CREATE TABLE en (id INT PRIMARY KEY, st ENUM('open','paid','void') NOT NULL DEFAULT 'open');
/* init */ INSERT INTO en (id) VALUES (1),(2);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE en SET st = 'paid' WHERE st = 'open';
/* tx2 */ UPDATE en SET st = 'void' WHERE st = 'open';
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM en;
/* tx2 */ COMMIT;
