// Package pgsql prints statements of cases, which are trees of MySQL's SQL, for PostgreSQL: what a
// tree says is written in the other's words, or refused with the reason. A condition becomes a
// boolean and a comparison that is used as a number becomes one; types are not known here, so that
// a comparison of text with a number stays one, which PostgreSQL refuses.
//
// https://www.postgresql.org/docs/current/sql.html
package pgsql
