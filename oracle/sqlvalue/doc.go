// Package sqlvalue holds SQL values as MySQL, MariaDB and TiDB compute with
// them: comparable plain data, exact decimals, and the text that the server's
// text protocol prints for each.
package sqlvalue
