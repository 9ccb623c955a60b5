package harness

import "context"

// Dumping is implemented by a private server beside whose programs, or on the PATH, is the vendor's program that writes
// a database out in one transaction while others change it.
type Dumping interface {
	// Dump returns the rows of a table as text: one INSERT of one row a line, among other lines. An error tells what the
	// program said.
	Dump(ctx context.Context, d DumpOf) ([]byte, error)
	// CanDump returns why Dump would fail for want of the program; nil: it is there.
	CanDump() error
}

// DumpOf says what is to be written out.
type DumpOf struct {
	// Place is the database or, where one connection sees all of these, the schema.
	Place, Table string
	// Serializable asks for a snapshot that is one of a serial order, where others are to be had.
	Serializable bool
}
