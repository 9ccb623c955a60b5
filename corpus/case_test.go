package corpus

import (
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

func parseCase(t *testing.T, text string) *Case {
	t.Helper()
	c, err := Parse("test", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLevels(t *testing.T) {
	const steps = "/* tx1 */ BEGIN; /* tx2 */ BEGIN;"
	c := parseCase(t, steps)
	if l, ok := c.LevelOf(1); ok {
		t.Errorf("level %v without a header line", l)
	}
	for _, x := range []struct {
		set   map[int]Level
		value string
	}{
		{map[int]Level{1: ReadCommitted, 2: ReadCommitted}, "READ COMMITTED"},
		{map[int]Level{1: ReadCommitted, 2: RepeatableRead}, "tx1=RC, tx2=RR"},
		{map[int]Level{2: Serializable}, "tx2=SER"},
		{map[int]Level{1: ReadUncommitted, 2: ReadUncommitted, 7: ReadUncommitted}, "READ UNCOMMITTED"},
		{nil, ""},
	} {
		c.SetLevels(x.set)
		if v, ok := c.Get("level"); v != x.value || ok != (x.set != nil) {
			t.Errorf("%v: header %q", x.set, v)
		}
		again := parseCase(t, string(Print(c, Text)))
		for _, s := range []int{1, 2} {
			want, has := x.set[s]
			if l, ok := again.LevelOf(s); l != want || ok != has {
				t.Errorf("%q: tx%d has %v, %v", x.value, s, l, ok)
			}
		}
	}
	for _, value := range []string{"rc", " Read Committed ", "tx1=rc , tx2 = READ COMMITTED"} {
		c := parseCase(t, "-- level: "+value+"\n"+steps)
		if l, ok := c.LevelOf(2); !ok || l != ReadCommitted {
			t.Errorf("%q: %v, %v", value, l, ok)
		}
	}
}

func TestValidate(t *testing.T) {
	good := func() *Case { return parseCase(t, "/* init */ CREATE TABLE t (a INT); /* tx1 */ SELECT a FROM t;") }
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(c *Case){
		"no statement":              func(c *Case) { c.Init, c.Steps = nil, nil },
		"no session sends":          func(c *Case) { c.Steps = nil },
		"tx2 sends no statement":    func(c *Case) { c.Set("level", "tx1=RC, tx2=RC") },
		"session 0 is not":          func(c *Case) { c.Steps[0].Session = 0 },
		"session 1000 is not":       func(c *Case) { c.Steps[0].Session = 1000 },
		"init line 1 has session 3": func(c *Case) { c.Init[0].Session = 3 },
		"has no statement":          func(c *Case) { c.Steps[0].Stmt = nil },
		"header level":              func(c *Case) { c.Set("level", "RX") },
		`header key "a:b"`:          func(c *Case) { c.Set("a:b", "c") },
		`header key "1"`:            func(c *Case) { c.Set("1", "c") },
		`header key "a "`:           func(c *Case) { c.Set("a ", "c") },
		"step line 1: print *ast.SelectStmt": func(c *Case) {
			c.Steps[0].Stmt.(*ast.SelectStmt).Where = &ast.IsNullExpr{}
		},
	} {
		c := good()
		spoil(c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A tree that no parser makes must neither panic nor reach a server as
// something else.
func TestSQLOfABrokenTree(t *testing.T) {
	s := SQL(&ast.SelectStmt{}, MySQL)
	if !strings.HasPrefix(s, "/* not printable: ") || !strings.HasSuffix(s, " */ ?") {
		t.Errorf("%q", s)
	}
	if _, err := Format(nil, Text); err == nil {
		t.Error("a nil statement was printed")
	}
	if got := SQL(Begin(), Text); got != "BEGIN" {
		t.Errorf("after a failure: %q", got)
	}
}

func TestConsistentSnapshot(t *testing.T) {
	for sql, want := range map[string]bool{
		"BEGIN": false, "START TRANSACTION": false, "COMMIT": false,
		"START TRANSACTION WITH CONSISTENT SNAPSHOT":                 false,
		"start transaction /* x */ with\nconsistent snapshot":        false,
		"START TRANSACTION /* WITH CONSISTENT SNAPSHOT */ READ ONLY": false,
	} {
		want = strings.HasSuffix(strings.ToUpper(sql), "SNAPSHOT") || want
		if got := stmt.KindOf(mustParse(sql)) == stmt.BeginSnapshot; got != want {
			t.Errorf("%s: %v", sql, got)
		}
		if got := stmt.KindOf(CloneStmt(mustParse(sql))) == stmt.BeginSnapshot; got != want {
			t.Errorf("clone of %s: %v", sql, got)
		}
	}
	if stmt.KindOf(BeginSnapshot()) != stmt.BeginSnapshot || stmt.KindOf(Begin()) != stmt.Begin {
		t.Error("constructors")
	}
}

func TestCommentsThatCouldBreakTheForm(t *testing.T) {
	c := parseCase(t, "/* tx1 */ BEGIN;")
	c.Steps[0].Note = "two\nlines; /* tx2 */ COMMIT;"
	c.Steps[0].Above = []string{"above\nit", "source: looks like a header"}
	c.Tail = []string{"end\r\n/* tx2 */ COMMIT;"}
	d := parseCase(t, string(Print(c, Text)))
	if len(d.Steps) != 1 || !d.Equal(parseCase(t, string(Print(d, Text)))) {
		t.Errorf("read as\n%s", Print(d, Text))
	}
}
