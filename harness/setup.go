package harness

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// inspectInit is inspect for a line of the set-up, which may also name the
// case's database.
func inspectInit(n ast.StmtNode, sql string) (traits, error) {
	switch x := n.(type) {
	case *ast.CreateDatabaseStmt, *ast.DropDatabaseStmt, *ast.UseStmt:
		return namesDatabase, nil
	case *ast.AlterDatabaseStmt:
		if x.AlterDefaultDatabase {
			return 0, nil
		}
	case *ast.CreateTableStmt:
		if x.TemporaryKeyword != ast.TemporaryNone {
			return 0, &RefusedError{sql, "no session sees a temporary table of the set-up"}
		}
	}
	switch t := n.(type) {
	case *stmt.TriggerStmt:
		return triggerTraits(t)
	case *stmt.RawStmt:
		return definitionTraits(t, sql)
	}
	tr, err := inspect(n, sql)
	if err == nil && tr&aboutSession != 0 {
		return 0, &RefusedError{sql, "the set-up has no sessions"}
	}
	return tr, err
}

// newOwnScript is newScript for a case that names its database, in whose place
// it gets one of ours. sql is the statement that does.
func newOwnScript(c *corpus.Case, dbms history.DBMS, sql string) (*script, error) {
	name, err := c.Database()
	if err != nil {
		return nil, &RefusedError{sql, err.Error()}
	}
	own := c.WithoutDatabase()
	var dropped []int // lines of the set-up that have nothing left to do
	for i, l := range own.Init {
		switch x := l.Stmt.(type) {
		case *ast.CreateDatabaseStmt:
			if len(x.Options) > 0 {
				own.Init[i].Stmt = &ast.AlterDatabaseStmt{AlterDefaultDatabase: true, Options: x.Options}
				continue
			}
			dropped = append(dropped, i)
		case *ast.DropDatabaseStmt, *ast.UseStmt:
			dropped = append(dropped, i)
		}
	}
	for _, i := range dropped {
		own.Init[i].Stmt = &ast.DoStmt{}
	}
	s, err := makeScript(own, dbms, true)
	if err != nil {
		return nil, err
	}
	s.database = name
	return s, nil
}

// addInit decides whether the set-up still is one that refilling repeats, and
// returns the line as it is to be run, "" for one that has nothing to do.
func (s *script) addInit(n ast.StmtNode, line int, sql string) string {
	structure := func() {
		s.creates = append(s.creates, line)
		// Rows that were there before are not made by the INSERTs alone.
		s.refill = s.refill && len(s.fills) == 0
	}
	switch x := n.(type) {
	case *ast.DoStmt:
		if len(x.Exprs) == 0 {
			return ""
		}
		s.refill = false
	case *ast.CreateTableStmt:
		s.overflows.add(x)
		structure()
		switch {
		case x.Select != nil || x.Partition != nil || referencesOthers(x):
			s.refill = false
		case x.ReferTable == nil && !x.IfNotExists:
			s.tables = append(s.tables, tableSpec{name: x.Table.Name.O, auto: autoIncrements(x)})
		}
		s.readBack = s.readBack || x.Select != nil || x.ReferTable != nil || x.IfNotExists || len(x.Options) > 0 || stamps(x)
	case *ast.InsertStmt:
		if x.Select != nil || x.IsReplace || len(x.OnDuplicate) > 0 {
			s.refill = false
			break
		}
		s.fills = append(s.fills, line)
	case *ast.SetStmt:
		s.refill, s.tainting = false, true
	case *stmt.TriggerStmt: // it may fill other tables than an INSERT names
		s.refill, s.readBack = false, true
	case *stmt.RawStmt: // a definition
		structure()
		s.readBack = true
	case ast.DDLNode:
		structure()
		s.readBack = true
	default:
		s.refill = false
	}
	return sql
}

// stamps says that a server may give columns the time without being told to: MariaDB before 10.10 does so to the first
// TIMESTAMP of a table unless it says NULL, and lets none of the others take NULL.
// https://mariadb.com/docs/server/reference/data-types/date-and-time-data-types/timestamp
func stamps(t *ast.CreateTableStmt) bool {
	return slices.ContainsFunc(t.Cols, func(c *ast.ColumnDef) bool {
		return c.Tp.GetType() == mysql.TypeTimestamp && !slices.ContainsFunc(c.Options, func(o *ast.ColumnOption) bool {
			return o.Tp == ast.ColumnOptionNull
		})
	})
}

func autoIncrements(t *ast.CreateTableStmt) bool {
	for _, c := range t.Cols {
		for _, o := range c.Options {
			if o.Tp == ast.ColumnOptionAutoIncrement || o.Tp == ast.ColumnOptionAutoRandom {
				return true
			}
		}
	}
	return false
}

// referencesOthers reports foreign keys: then the order of emptying matters.
func referencesOthers(t *ast.CreateTableStmt) bool {
	for _, c := range t.Constraints {
		if c.Tp == ast.ConstraintForeignKey {
			return true
		}
	}
	for _, c := range t.Cols {
		for _, o := range c.Options {
			if o.Tp == ast.ColumnOptionReference {
				return true
			}
		}
	}
	return false
}

// nameDatabase gives the database in a server's message the name that the case
// has for it.
func (s *script) nameDatabase(e *history.Error, db string) {
	if s.database != "" && db != "" {
		e.Message = strings.ReplaceAll(e.Message, db, s.database)
	}
}

// settleSetup ends what the set-up left open, and asks the server what it made.
func (w *worker) settleSetup(p *provisioned, s *script) error {
	if !s.refill {
		// What the set-up wrote without a COMMIT of its own is meant to stay.
		if err := w.ctlExec("COMMIT"); err != nil {
			return err
		}
	}
	if s.tainting {
		// What it set is not meant for the reads that follow.
		if err := w.renewControl(); err != nil {
			return err
		}
	}
	if s.refill && !s.readBack {
		p.tables = s.tables
		return nil
	}
	var err error
	p.tables, p.views, err = w.listTables(p)
	return err
}

// renewControl replaces a control connection whose state is not known.
func (w *worker) renewControl() error {
	w.hangUp(w.ctl)
	w.ctl.broken = true
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := w.connectControl(ctx); err != nil {
		return &LostError{err}
	}
	return nil
}

// nextPattern finds the table option in what SHOW CREATE TABLE prints, behind the
// parenthesis that closes the columns.
var nextPattern = regexp.MustCompile(`\n\) .*\bAUTO_INCREMENT=([0-9]+)`)

// listTables asks for the tables and views of a database and their definitions,
// in order of their names.
func (w *worker) listTables(p *provisioned) (tables []tableSpec, views []history.View, err error) {
	if err := w.use(w.ctl, p.db); err != nil {
		return nil, nil, err
	}
	in := w.pool.speech
	quote := in.quote
	r, err := w.query(in.tables)
	if err != nil {
		return nil, nil, err
	}
	tables = []tableSpec{}
	for _, row := range r.Rows {
		name, kind := row[0].Text, row[1].Text
		if kind != "VIEW" && kind != "BASE TABLE" {
			continue
		}
		if !in.defines {
			if kind == "VIEW" {
				views = append(views, history.View{Name: name})
			} else {
				tables = append(tables, tableSpec{name: name, auto: row[2].Text == "1"})
			}
			continue
		}
		def, err := w.query("SHOW CREATE TABLE " + quote(name))
		if err != nil {
			return nil, nil, err
		}
		if len(def.Rows) != 1 || len(def.Rows[0]) < 2 {
			return nil, nil, fmt.Errorf("SHOW CREATE TABLE %s: want one row of a name and a text", quote(name))
		}
		text := strings.ReplaceAll(def.Rows[0][1].Text, quote(p.db)+".", "")
		if kind == "VIEW" {
			views = append(views, history.View{Name: name, Create: text})
			continue
		}
		t := tableSpec{name: name, create: text, auto: strings.Contains(text, " AUTO_INCREMENT")}
		if m := nextPattern.FindStringSubmatch(text); m != nil {
			t.next = m[1]
		}
		tables = append(tables, t)
	}
	return tables, views, nil
}
