// Package answers reads off the answers of a case what its transactions did to each
// other, without computing what any statement does. The case must have unique values:
// each table ends with two columns, id, which numbers what was inserted, and v, which
// numbers the statement that wrote the version (mutate/unique makes such cases). So an
// answer that holds both tells whose version it is, as the unique registers of Elle do
// (Alvaro and Kingsbury, "Elle", VLDB 2020, section 4.2).
//
// Nothing here replays a statement or knows a lock, so it is a second opinion of
// oracle/mvcc, which does. It knows less: which rows a write changed is known only where
// somebody saw the version, and of two writers of a row nobody knows the order unless one
// of them had committed before the other's end was submitted. What it does not know it
// leaves out, so an edge that it tells is there.
package answers
