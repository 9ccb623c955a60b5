// Package corpus holds test cases for transactions: a schema, rows, sessions
// and a submitted order, their text form, and the store of saved ones.
//
// It takes text and gives a Case, or a *ParseError that names the place; and it prints a Case
// in a Dialect, either the neutral one of files or that of a server, so that what was printed
// is read as the same case. The form is described in docs/cases.md. ParseBlocks reads the form
// in which Troc (https://github.com/criszy/Troc) and Fucci (https://github.com/Reverie4u/Fucci)
// publish their cases.
//
// It knows no database and no oracle. Statements are pingcap/tidb parser ASTs.
package corpus
