-- source: Haki Benita: a join over a foreign key returns nothing if it locks a row whose reference changed
-- link: https://hakibenita.com/postgres-row-lock-with-join
-- status: Not a bug: the other table is read on the snapshot of the statement
-- affected: all
-- reported: READ COMMITTED
-- seed: no, because only PostgreSQL has what it is about
-- level: READ COMMITTED
-- target: postgres:18
-- shows: all
-- observe: tx2.2
-- expected: (1,2,2)
-- anomaly: no rows
-- verdict (postgres 18, RC): unknown unsupported
-- verdict (postgres 18.3, RC): unknown unsupported
-- verdict (postgres 18.1, RC): unknown unsupported
-- verdict (postgres 17, RC): unknown unsupported
-- verdict (postgres 17.6, RC): unknown unsupported
-- verdict (postgres 17.0, RC): unknown unsupported
-- verdict (postgres 16, RC): unknown unsupported
-- verdict (postgres 16.1, RC): unknown unsupported
-- verdict (postgres 15, RC): unknown unsupported
-- verdict (postgres 15.10, RC): unknown unsupported
-- verdict (postgres 15.5, RC): unknown unsupported
-- verdict (postgres 15.3, RC): unknown unsupported
-- verdict (postgres 15.1, RC): unknown unsupported
-- verdict (postgres 14, RC): unknown unsupported
-- verdict (postgres 14.3, RC): unknown unsupported
-- verdict (postgres 13, RC): unknown unsupported
-- verdict (postgres 13.10, RC): unknown unsupported
-- verdict (postgres 12, RC): unknown unsupported
-- verdict (postgres 12.14, RC): unknown unsupported
-- verdict (postgres 11, RC): unknown unsupported
-- verdict (postgres 10, RC): unknown unsupported
-- verdict (postgres 10.20, RC): unknown unsupported

/* init */ CREATE TABLE owner (id INT PRIMARY KEY);
/* init */ CREATE TABLE car (id INT PRIMARY KEY, owner_id INT NOT NULL, FOREIGN KEY (owner_id) REFERENCES owner (id));
/* init */ INSERT INTO owner VALUES (1), (2), (3);
/* init */ INSERT INTO car VALUES (1, 1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE car SET owner_id = 2 WHERE id = 1;
/* tx2 */ BEGIN;
/* tx2 */ /* raw reads=car,owner locks=exclusive */ SELECT car.id, car.owner_id, owner.id AS o FROM car JOIN owner ON car.owner_id = owner.id WHERE car.id = 1 FOR UPDATE OF car;   -- blocked
/* tx1 */ COMMIT;
/* tx2 */ COMMIT;
