// Package postgrestest starts a PostgreSQL of its own for a test, from Debian's packages. It
// takes settings and gives the folder of the socket that the server listens on; the server ends
// with the test, and its files go.
package postgrestest
