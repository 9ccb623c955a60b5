// Package schemadump reads the tables of a dump, such as `mysqldump --no-data` writes it.
//
// It takes CREATE TABLE, and the keys that ALTER TABLE and CREATE INDEX add behind it. All else of a dump (settings,
// views, triggers, rows) is counted and left out.
package schemadump
