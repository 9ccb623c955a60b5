package reduce

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// role is what a statement does to a transaction.
type role uint8

const (
	roleOther role = iota
	roleBegin
	roleEnd
	roleSavepoint
	// roleToSavepoint is ROLLBACK TO or RELEASE: it needs the savepoint.
	roleToSavepoint
)

// statement is one SQL text with what the reducer asks of it. Statements are
// interned by a library and never change, so that work on a text that occurs
// in thousands of candidates is done once.
type statement struct {
	text string
	// tree is for reading by this package only.
	tree ast.StmtNode
	// nodes holds copies to give away, one for each time the text occurs in
	// one case: no two lines of a case share a tree.
	nodes []ast.StmtNode

	role role
	// about is set of a line about a session.
	about     *stmt.SessionStmt
	savepoint string
	tables    []string
	creates   *table
	indexes   *index
	deletion  arm

	tokens   int
	columns  int
	types    int
	literals uint64
	// values holds every literal of the text.
	values []corpus.Literal

	// variants holds the simplifications of this statement alone, by layer,
	// made when they are first asked for.
	variants [layerCount][]variant
	explored [layerCount]bool
	// checked holds the faults of the statement under a schema.
	checked map[*schema][]string
}

// variant is a simplification that concerns one statement alone. What it
// prints as need not be a statement.
type variant struct {
	arm  arm
	text string
}

// library interns statements by text.
type library struct {
	byText  map[string]*statement
	schemas map[string]*schema
}

func newLibrary() *library {
	return &library{byText: map[string]*statement{}, schemas: map[string]*schema{}}
}

// read interns a text; nil if it is no statement. What the parser reads may
// print differently from the text, so the text kept is the printed one.
func (l *library) read(text string) *statement {
	if s, ok := l.byText[text]; ok {
		return s
	}
	node, err := corpus.ParseStatement(text)
	if err != nil {
		l.byText[text] = nil
		return nil
	}
	s, err := l.add(node)
	if err != nil {
		s = nil
	}
	l.byText[text] = s
	return s
}

// print interns what a tree looks like; nil if no statement looks so. The tree
// is not kept: callers go on to change it.
func (l *library) print(node ast.StmtNode) *statement {
	text, err := corpus.Format(node, corpus.Text)
	if err != nil {
		return nil
	}
	return l.read(text)
}

// add interns a tree that the caller gives away.
func (l *library) add(node ast.StmtNode) (*statement, error) {
	text, err := corpus.Format(node, corpus.Text)
	if err != nil {
		return nil, fmt.Errorf("print a statement: %w", err)
	}
	if s, ok := l.byText[text]; ok && s != nil {
		return s, nil
	}
	s := &statement{text: text, tree: node, checked: map[*schema][]string{}}
	s.describe()
	l.byText[text] = s
	return s, nil
}

// node returns the tree for the n-th occurrence of the statement in a case.
func (s *statement) node(n int) ast.StmtNode {
	for len(s.nodes) <= n {
		s.nodes = append(s.nodes, corpus.CloneStmt(s.tree))
	}
	return s.nodes[n]
}

// describe fills in everything that depends on the text alone.
func (s *statement) describe() {
	s.tokens = countTokens(s.text)
	s.deletion = armDeleteOther
	n := s.tree
	of := stmt.Of(n)
	s.savepoint = strings.ToLower(of.Savepoint)
	switch of.Kind {
	case stmt.Begin, stmt.BeginSnapshot:
		s.role = roleBegin
	case stmt.Commit, stmt.Rollback:
		s.role = roleEnd
	case stmt.Savepoint:
		s.role = roleSavepoint
	case stmt.RollbackTo, stmt.ReleaseSavepoint:
		s.role = roleToSavepoint
	case stmt.KillQuery, stmt.Kill, stmt.Disconnect, stmt.Connect:
		s.about = n.(*stmt.SessionStmt)
		s.tokens++ // it says more than a ROLLBACK does
	case stmt.Select:
		s.deletion = armDeleteSelect
	case stmt.SelectForShare, stmt.SelectForUpdate:
		s.deletion = armDeleteLockingRead
	case stmt.Update:
		s.deletion = armDeleteUpdate
	case stmt.Delete:
		s.deletion = armDeleteDelete
	case stmt.Insert:
		s.deletion = armDeleteInsert
	}
	switch n := n.(type) {
	case *ast.CreateTableStmt:
		s.creates = tableOf(n)
		for _, c := range n.Cols {
			if !isInt(c) {
				s.types++
			}
		}
	case *ast.CreateIndexStmt:
		s.indexes = indexOf(n)
	}
	n.Accept(&describer{s: s})
}

// isInt reports whether a column has the simplest type.
func isInt(c *ast.ColumnDef) bool { return c.Tp != nil && c.Tp.GetType() == mysql.TypeLong }

// describer collects tables, columns and literals from a tree.
type describer struct {
	s    *statement
	ctes map[string]bool
}

func (d *describer) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.CommonTableExpression:
		if d.ctes == nil {
			d.ctes = map[string]bool{}
		}
		d.ctes[n.Name.L] = true
	case *ast.TableName:
		if !d.ctes[n.Name.L] {
			d.s.tables = append(d.s.tables, n.Name.L)
		}
	case *ast.ColumnNameExpr:
		d.s.columns++
	case ast.ValueExpr:
		l := corpus.LiteralOf(n)
		d.s.values = append(d.s.values, l)
		d.s.literals += literalWeight(l)
	}
	return n, false
}

func (d *describer) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// Constants by rising weight: 0, 1, 2, …, strings by length and then by
// letters that are not a, numbers by digits, NULL after the two-digit numbers.
const (
	weightNull   = 100
	weightString = 1 << 20
	weightBig    = 1 << 40
)

// literalWeight is the magnitude of a constant: smaller is simpler.
func literalWeight(l corpus.Literal) uint64 {
	switch l.Kind {
	case corpus.KindNull:
		return weightNull
	case corpus.KindInt:
		n, _ := parseUint(l.Text)
		if n < weightBig {
			return n
		}
		return weightBig + uint64(bits.Len64(n))
	case corpus.KindString:
		w := uint64(weightString)
		for i := range len(l.Text) {
			w += 256
			if l.Text[i] != 'a' {
				w++
			}
		}
		return w
	}
	return weightBig + 64 + uint64(len(l.Text))
}

// parseUint reads the decimal digits of a non-negative integer literal.
func parseUint(text string) (uint64, bool) {
	var n uint64
	for i := range len(text) {
		if !isDigit(text[i]) || n > (1<<63)/10 {
			return 0, false
		}
		n = n*10 + uint64(text[i]-'0')
	}
	return n, text != ""
}
