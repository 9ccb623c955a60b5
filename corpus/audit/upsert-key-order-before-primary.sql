-- source: found by txnfuzz against an honest server
-- seed: no, because it guards the judgement of one form of SQL
-- note: UNIQUE keys are put into their order before the PRIMARY KEY behind them makes c NOT NULL, so the row with b = 0 is in the way first; TiDB looks for the primary key, which is free, and then goes by the definition, too
-- expected: ok
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

/* init */ CREATE TABLE t (a INT, b INT UNIQUE, c INT UNIQUE, PRIMARY KEY (c, a));
/* init */ INSERT INTO t VALUES (1, 1, 1), (3, 0, 3);
/* tx1 */ INSERT INTO t VALUES (8, 0, 1) ON DUPLICATE KEY UPDATE a = 50;
/* tx1 */ SELECT * FROM t;
