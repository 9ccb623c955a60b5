// Package server runs cases on MySQL, MariaDB and TiDB: on private instances,
// which it starts from an installed server and takes down with the process
// however that ends, and on servers that somebody else runs, named by a DSN.
package server
