// Package schemadump reads the tables of a dump, such as `mysqldump --no-data` or `pg_dump --schema-only` writes it.
//
// Of a dump of MySQL's family it takes CREATE TABLE, and the keys that ALTER TABLE and CREATE INDEX add behind it. Of one of
// PostgreSQL it takes those and enumerations, domains and columns that count, and writes them in MySQL's words, which all
// cases are made in: a type that MySQL's SQL has not is left out, or another one stands for it. All else of a dump
// (settings, views, triggers, rows) is counted and left out.
package schemadump
