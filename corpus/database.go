package corpus

import (
	"fmt"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
)

// systemDatabases belong to the server: what is done there reaches beyond a case.
var systemDatabases = map[string]bool{
	"mysql": true, "information_schema": true, "performance_schema": true, "sys": true, "metrics_schema": true,
}

// Database returns the one database that the statements of a case name, as it is
// first written, "" if they name none. A case that names several, or one of the
// server's own, is an error.
func (c *Case) Database() (string, error) {
	f := &databaseFinder{}
	for _, lines := range [][]Line{c.Init, c.Steps} {
		for _, l := range lines {
			l.Stmt.Accept(f)
			switch s := l.Stmt.(type) {
			case *ast.UseStmt:
				f.found(s.DBName)
			case *ast.CreateDatabaseStmt:
				f.found(s.Name.O)
			case *ast.DropDatabaseStmt:
				f.found(s.Name.O)
			}
			if f.err != nil {
				return "", f.err
			}
		}
	}
	return f.name, nil
}

type databaseFinder struct {
	name string
	err  error
}

func (f *databaseFinder) found(name string) {
	switch {
	case name == "" || f.err != nil || strings.EqualFold(name, f.name):
	case systemDatabases[strings.ToLower(name)]:
		f.err = fmt.Errorf("it names the database %s, which is the server's own", name)
	case f.name != "":
		f.err = fmt.Errorf("it names two databases, %s and %s: a case has one", f.name, name)
	default:
		f.name = name
	}
}

func (f *databaseFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.TableName:
		f.found(x.Schema.O)
	case *ast.ColumnName:
		f.found(x.Schema.O)
	case *ast.SelectField:
		if x.WildCard != nil {
			f.found(x.WildCard.Schema.O)
		}
	}
	return n, false
}

func (f *databaseFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// WithoutDatabase returns a copy of a case in which tables and columns are named
// without their database.
func (c *Case) WithoutDatabase() *Case {
	out := c.Clone()
	for _, lines := range [][]Line{out.Init, out.Steps} {
		for _, l := range lines {
			DropDatabase(l.Stmt)
		}
	}
	return out
}

// DropDatabase removes the name of the database from the tables and columns of a
// statement, in place.
func DropDatabase(stmt ast.StmtNode) { stmt.Accept(databaseDropper{}) }

type databaseDropper struct{}

func (databaseDropper) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.TableName:
		x.Schema = model.CIStr{}
	case *ast.ColumnName:
		x.Schema = model.CIStr{}
	case *ast.SelectField:
		if x.WildCard != nil {
			x.WildCard.Schema = model.CIStr{}
		}
	}
	return n, false
}

func (databaseDropper) Leave(n ast.Node) (ast.Node, bool) { return n, true }
