// Command instrumented holds the dependency graph of the oracle against one that is made
// of a server's answers alone.
//
//	go run -tags notidb ./scripts/instrumented --target mariadb:11.8 --cases 2000 --seed 1
//	go run -tags notidb ./scripts/instrumented --again out/instrumented/1-17.jsonl
//
// It surrounds each statement of a generated case with plain SELECTs in the same session
// that show what the statement met and what it left: all rows of the table before it
// (VSR), those that match its condition (PM), the rows after a write (AWR), and which rows
// match each condition of the case before a write (BPM) and after it (APM). Two more
// columns make the versions of rows recognisable. At READ COMMITTED, and if nothing
// waits, these answers tell version order, read-from and who changed whether a row
// matches; Adya's definitions then give the edges. The oracle's graph of the same run
// must have the same edges, with the same transactions, statements and items.
//
// A case in which something waits is run again with its statements in the order in which
// they returned, until nothing waits.
//
// The reads and the columns change the case: what is compared is the instrumented one.
// It cannot see
//
//   - an UPDATE that writes what is already there, since each one writes a new version
//     number, and a version that differs from the one before in nothing;
//   - waits, deadlocks, and other levels than READ COMMITTED;
//   - statements of several tables and subqueries, which the oracle's graph takes to
//     match every row;
//   - what a SELECT whose LIMIT ended it met besides the rows that it returned;
//   - what an INSERT of several rows or an UPDATE read that met a duplicate key: which row
//     met it is not in the answer;
//   - whether a row that is not there was deleted or never was: that is by the order of
//     commits, and so is, by definition, what an item is (see newStore).
//
// It ends with status 1 if edges differ or answers contradict each other, with 2 on wrong
// usage, with 3 if a server fails.
package main
