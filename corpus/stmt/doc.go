// Package stmt is one view of a statement, for all who ask what it is and not how it
// is built: its kind, its tables, its condition, its locks, its order and limit.
//
// Of takes a tree of the parser and gives a View; it changes nothing. A RawStmt is a statement
// that the parser does not read: whoever wrote it has said what it touches.
package stmt
