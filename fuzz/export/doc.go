// Package export writes a recorded run in the forms that people file bugs in
// and keep regression tests in.
//
// It takes a timeline and the name of a format and gives the text, with files that go beside
// it: reports for the trackers of the vendors, tests of MySQL's and MariaDB's mysql-test
// (https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_MYSQLTEST_LANGUAGE_REFERENCE.html),
// specifications of PostgreSQL's isolationtester
// (https://github.com/postgres/postgres/blob/master/src/test/isolation/README), Go and SQL. A
// test passes where the server keeps its promise, a demonstration where it shows the bug. What
// a format cannot express is an error, never left out.
package export
