// Package solve is the statement solver: it evaluates SQL expressions over
// parser ASTs and computes the effect of one statement on one view of a
// database, exactly as the modelled server does. What it cannot predict
// exactly it refuses with *Unsupported; it never guesses.
//
// It knows nothing of transactions: the caller says which rows a statement
// sees. What the solver refuses, the server may compute (Asking). It follows the manuals of
// MySQL, MariaDB and TiDB, whose pages stand where they are used; where they say less than the
// servers do, package conform has measured it.
package solve
