package export

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"slices"
	"strings"
	"text/template"

	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

//go:embed gotest.tmpl gopgtest.tmpl goparts.tmpl
var goTemplates embed.FS

var goFiles = template.Must(template.New("").Funcs(template.FuncMap{
	"q": func(s string) string { return fmt.Sprintf("%q", s) },
}).ParseFS(goTemplates, "*.tmpl"))

// goTest writes a test that fails where the anomaly shows or, as a demonstration,
// where it does not. It skips servers whose promise is another one.
func goTest(s *script) (Files, error) {
	if s.onPostgres() && s.Case.EndsSessions() {
		return Files{}, errors.New("a Go test for PostgreSQL ends no sessions; two-terminals does")
	}
	type line struct {
		Step, Session      int
		Do, SQL            string
		Target             int
		Shows              bool
		Sent               string
		Counts, Ordered    bool
		Recorded, Promised string
	}
	type final struct{ Name, Recorded, Promised string }
	data := struct {
		Comments []string
		Setup    []string
		Levels   []line
		Steps    []line
		Final    []final
		Decided  bool
		Demo     bool
		Needs    []setting
		Database string
		Family   string
		Before   []string
		Ends     bool
		Prepares bool
	}{Prepares: !s.Case.Protocol().IsText(), Setup: s.setup(), Decided: s.decided, Demo: s.demo, Database: s.database(), Family: serverNames[s.History.Server.DBMS], Before: s.settingsOfSetup(), Ends: s.Case.EndsSessions()}
	for _, x := range s.needed {
		if x.promising() {
			data.Needs = append(data.Needs, x)
		}
	}
	for _, c := range append([]string{s.title(), s.serverLine()}, slices.Concat(s.why(), s.Account.Links)...) {
		data.Comments = append(data.Comments, strings.Map(printable, c))
	}
	for _, n := range s.Sessions {
		for _, sql := range s.prepare(n, false) {
			data.Levels = append(data.Levels, line{Session: n, SQL: sql})
		}
	}
	for i := range s.actions {
		a := &s.actions[i]
		l := line{Step: a.Step, Session: a.Session, SQL: a.sql, Do: "run"}
		switch {
		case a.Waits && !a.Answered:
			continue
		case a.Waits:
			l.Do = "send"
		case a.Resumed:
			l.Do = "reap"
		default:
			if do, target := a.does(); do != "" {
				l.Do, l.Target = do, target
			}
		}
		l.Sent = s.sentAs(a.Stmt)
		l.Shows, l.Counts = len(s.History.Stmts[a.Stmt].Result.Columns) > 0, counted(a.kind)
		if a.recorded != nil {
			l.Ordered = a.promised.ordered
			l.Recorded, l.Promised = a.recorded.text(a.kind), a.promised.text(a.kind)
		}
		data.Steps = append(data.Steps, l)
	}
	for i, t := range s.History.Final {
		f := final{quoteName(t.Name), bag(t.Rows), bag(t.Rows)}
		if s.onPostgres() {
			f.Name = pgsql.Name(t.Name)
		}
		if i < len(s.Account.Final) {
			f.Promised = bag(s.Account.Final[i].Rows)
		}
		data.Final = append(data.Final, f)
	}
	var b bytes.Buffer
	file := "gotest.tmpl"
	if s.onPostgres() {
		file = "gopgtest.tmpl"
	}
	if err := goFiles.ExecuteTemplate(&b, file, data); err != nil {
		return Files{}, err
	}
	text, err := format.Source(b.Bytes())
	return Files{Text: text}, err
}

// counted says that of the answer to a statement the number of rows is told.
func counted(k stmt.Kind) bool { return k == stmt.Update || k == stmt.Delete || k == stmt.Insert }

// text prints an answer as the generated test does.
func (a *answer) text(k stmt.Kind) string {
	switch {
	case a.err != 0:
		return fmt.Sprintf("error %d", a.err)
	case a.unknown:
		return "no error"
	case len(a.columns) > 0:
		return values(a.rows, a.ordered)
	case counted(k):
		return fmt.Sprintf("%d affected", a.changed)
	}
	return "ok"
}
