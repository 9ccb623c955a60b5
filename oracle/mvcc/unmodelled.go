package mvcc

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// unmodelled names a clause of a statement that no part of the replay looks at and
// that changes what the statement reads or does; "" for none.
func unmodelled(n ast.Node) string {
	f := unmodelledFinder{root: n, plain: stmt.KindOf(n) == stmt.Select}
	n.Accept(&f)
	return f.what
}

// unmodelledFinder is a visitor of its own since every statement of every history is
// looked at.
type unmodelledFinder struct {
	what string
	root ast.Node
	// plain says that it is a query, of which the server may be asked.
	plain bool
}

func (f *unmodelledFinder) Enter(n ast.Node) (ast.Node, bool) {
	if f.what != "" {
		return n, true
	}
	switch x := n.(type) {
	case *ast.WithClause:
		if f.plain {
			break
		}
		f.what = "a common table expression (WITH)"
	case *ast.TableName:
		if len(x.PartitionNames) > 0 {
			f.what = "PARTITION behind a table's name"
		}
		if x.AsOf != nil || x.TableSample != nil {
			f.what = "AS OF or TABLESAMPLE behind a table's name"
		}
	case *ast.SelectStmt:
		switch wait := stmt.LockOf(x).Wait; {
		case n != f.root && wait == stmt.Skips:
			f.what = "SKIP LOCKED in a part of a statement"
		case wait == stmt.Fails && DerivedOnly(x):
			// At SERIALIZABLE MySQL waits for the rows below all the same, MariaDB does not.
			f.what = "NOWAIT over derived tables"
		}
	case *stmt.RawStmt:
		if n == f.root && slices.ContainsFunc(x.Words(), func(w string) bool { return w == "nowait" || w == "wait" || w == "skip" }) {
			f.what = "NOWAIT, WAIT or SKIP LOCKED in a raw statement"
		}
	case *ast.InsertStmt:
		if len(x.PartitionNames) > 0 {
			f.what = "PARTITION behind a table's name"
		}
	}
	return n, f.what != ""
}

func (f *unmodelledFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// unmodelledLoss is the loss that a statement with such a clause is.
func unmodelledLoss(n ast.Node) error {
	if what := unmodelled(n); what != "" {
		return &Loss{Slug: "unsupported: " + what}
	}
	return nil
}
