// Package foreign makes cases of what other tools send: SQL of several sessions in the words of PostgreSQL or MySQL.
// What a case cannot say is refused with a reason. Packages isolationspec and hermitage read the files of two such
// tools, mysqltest those of a third, which has more to it than SQL.
package foreign
