// Package mysqltest reads test files of mysqltest, with which MySQL and MariaDB test themselves, and makes cases of
// those parts of a file in which several connections speak.
//
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_MYSQLTEST_LANGUAGE_REFERENCE.html describes the language.
package mysqltest

// Ext is the ending of test files.
const Ext = ".test"
