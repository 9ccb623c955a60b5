// Package pgsql prints statements of cases, which are trees of MySQL's SQL, for PostgreSQL: what a
// tree says is written in the other's words, or refused with the reason. A condition becomes a
// boolean and a comparison that is used as a number becomes one.
//
// Types are not known here. A comparison of text with a number stays one, which PostgreSQL refuses;
// sums are of the type of their operands and may leave its range; operators on bits make signed
// numbers. A column holds all values of MySQL's type, and may hold more. Text is compared by its
// bytes.
//
// https://www.postgresql.org/docs/current/sql.html
package pgsql
