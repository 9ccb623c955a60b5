// Package record knows how InnoDB stores the fields of a record, and tells whether
// the fields of an index entry that a server prints are those of a row
// (https://dev.mysql.com/doc/refman/en/innodb-index-types.html). Where the print does not
// tell, for example because it cuts a field off, the answer is that it is not sure.
package record
