// Package plan takes what a server's EXPLAIN says of a statement and gives how each table is
// read: from a table (https://dev.mysql.com/doc/refman/en/explain-output.html), or from JSON of
// MariaDB, of MySQL in version 1 of that format, or of TiDB (tidb_json). What it does
// not know it leaves out.
package plan
