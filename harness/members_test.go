package harness

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestSpreads: what cannot run with each session on a member of its own is refused.
func TestSpreads(t *testing.T) {
	const two = "/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n"
	const held = "-- hold: tx1 1 at f+0x1 of " + "e1821821a892eac33ee9f1fdbd865b01195881aa hit 1 until tx2 1\n"
	keyless := barriers[GroupMulti].keyless
	p := &Pool{members: &members{barrier: barriers[GroupMulti], dbs: make([]Database, 3)}, server: history.Server{DBMS: history.MySQL}}
	for text, want := range map[string]string{
		two + "/* tx3 */ SELECT * FROM t;":                                                                             "",
		two + "/* tx4 */ SELECT * FROM t;":                                                                             "there are 3",
		two + "/* tx1 */ BEGIN;\n/* tx2 */ KILL tx1;":                                                                  "cannot be killed",
		held + two + "/* tx1 */ SELECT * FROM t;\n/* tx2 */ SELECT 1;":                                                 "different members",
		"/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT 1;":                                                      keyless,
		two + "/* init */ ALTER TABLE t DROP PRIMARY KEY;\n/* tx1 */ BEGIN;":                                           keyless,
		two + "/* tx1 */ CREATE TABLE u (a INT);":                                                                      keyless,
		two + "/* tx1 */ CREATE TABLE u (a INT PRIMARY KEY);":                                                          "",
		two + "/* tx1 */ CREATE TEMPORARY TABLE u (a INT);":                                                            "",
		two + "/* tx1 */ CREATE TABLE u SELECT * FROM t;":                                                              keyless,
		two + "/* tx1 */ ALTER TABLE t DROP PRIMARY KEY;":                                                              keyless,
		two + "/* tx1 */ ALTER TABLE t DROP INDEX `PRIMARY`;":                                                          keyless,
		two + "/* tx1 */ DROP INDEX `PRIMARY` ON t;":                                                                   keyless,
		two + "/* tx1 */ ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (b);\n/* tx1 */ ALTER TABLE t DROP COLUMN a;": "",
		two + "/* tx1 */ ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (b);\n/* tx1 */ ALTER TABLE t DROP COLUMN b;": keyless,
		two + "/* tx1 */ ALTER TABLE t DROP COLUMN a;":                                                                 keyless,
		two + "/* tx1 */ ALTER TABLE t DROP COLUMN b;":                                                                 "",
	} {
		c, err := corpus.Parse("x", []byte(text+"\n"))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		_, err = p.script(c)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		var unheld *UnheldError
		if errors.As(err, &unheld) != strings.HasPrefix(text, held) {
			t.Errorf("%s: %T", text, err)
		}
		p.members = nil
		if _, err := p.script(c); err != nil {
			t.Errorf("on one server: %s: %v", text, err)
		}
		p.members = &members{barrier: barriers[GroupMulti], dbs: make([]Database, 3)}
	}
}

// TestElsewhere compares the tables of a case with what another server answers.
func TestElsewhere(t *testing.T) {
	rows := func(names ...string) (out [][]history.Cell) {
		for _, n := range names {
			out = append(out, []history.Cell{{Text: n}, {Text: "BASE TABLE"}})
		}
		return out
	}
	read := Reply{Result: history.Result{Columns: []string{"a"}, Rows: [][]history.Cell{{{Text: "1"}}}}}
	failed := Reply{Result: history.Result{Err: &history.Error{Code: 1146, Message: "no table db_7.t"}}}
	for _, c := range []struct {
		name   string
		traits traits
		tables []string // that the other server has
		read   Reply
		want   string
	}{
		{"alike", altersSchema, []string{"t"}, read, ""},
		{"one more table", altersSchema, []string{"t", "u"}, read, "that it has this table, which member node1 has not"},
		{"one more table, behind a case that alters none", 0, []string{"t", "u"}, read, ""},
		{"one less", altersSchema, nil, failed, "no table db.t"},
		{"another column", 0, nil, Reply{Result: history.Result{Columns: []string{"b"}}}, "columns (b), member node1 (a)"},
	} {
		o := outcome{
			&script{traits: c.traits}, &provisioned{db: "db_7"}, []tableSpec{{name: "t"}},
			[]history.Table{{Name: "t", Columns: read.Columns, Rows: read.Rows}}, "member node1",
		}
		trouble, err := o.elsewhere(&mysqlSpeech, func(sql string) (Reply, error) {
			if sql == mysqlSpeech.tables {
				return Reply{Result: history.Result{Columns: []string{"n", "k"}, Rows: rows(c.tables...)}}, nil
			}
			return c.read, nil
		})
		got := ""
		if trouble != nil {
			got = trouble.Error
		}
		if err != nil || (c.want == "") != (trouble == nil) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %+v, %v, want %q", c.name, trouble, err, c.want)
		}
	}
}

// TestMayHaveCommitted: the other members hear of what can have committed something, and of nothing else.
func TestMayHaveCommitted(t *testing.T) {
	for _, c := range []struct {
		name   string
		traits traits
		inTxn  bool // behind it
		want   bool
	}{
		{"a plain SELECT in autocommit", plainRead, false, false},
		{"a plain SELECT in a transaction", plainRead, true, false},
		{"DML in autocommit", locks, false, true},
		{"DML in a transaction", locks, true, false},
		{"COMMIT", ends, false, true},
		{"BEGIN, which commits what was open", 0, true, true},
		{"DDL", altersSchema | taints, false, true},
	} {
		r, sessions := phase(c.traits)
		sessions[0].inTxn = c.inTxn
		r.got = []answer{{session: sessions[0]}}
		if got := r.mayHaveCommitted(); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestLevelsOfATopology(t *testing.T) {
	for kind, want := range map[TopologyKind][]corpus.Level{
		GroupMulti: {corpus.ReadUncommitted, corpus.ReadCommitted, corpus.RepeatableRead}, GroupSingle: corpus.Levels, "": corpus.Levels,
	} {
		if diff := cmp.Diff(want, kind.Levels(corpus.Levels)); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
	}
	if want := []corpus.Level{corpus.RepeatableRead}; !slices.Equal(GroupMulti.Levels([]corpus.Level{corpus.RepeatableRead, corpus.Serializable}), want) {
		t.Error("it is not the place among the levels that decides")
	}
}

// listener is a server that notes what its connections say, each of which takes three texts.
type listener struct {
	Database
	said []string
}

func (d *listener) Open(context.Context, bool) (Session, error) {
	d.said = append(d.said, "connect")
	return &teller{of: d}, nil
}

type teller struct {
	Session
	of *listener
	n  int
}

func (s *teller) ID() uint64   { return 1 }
func (s *teller) Cut()         {}
func (s *teller) Close() error { s.of.said = append(s.of.said, "close"); return nil }

func (s *teller) Execute(sql string) (r Reply, err error) {
	s.of.said = append(s.of.said, sql)
	if s.n++; s.n > 3 {
		return r, errors.New("broken")
	}
	if strings.HasPrefix(sql, "USE none") {
		r.Err = &history.Error{Code: 1049}
	}
	return r, nil
}

// TestRemote: what another server is sent, over connections that break.
func TestRemote(t *testing.T) {
	d := &listener{}
	r := &remote{db: d, setup: "SET x"}
	for _, c := range []struct{ db, sql, err string }{
		{"", "A", ""}, {"d", "B", ""}, {"d", "C", "C: broken"}, {"none", "D", ""}, {"none", "E", ""},
	} {
		_, err := r.execute(t.Context(), "USE ", c.db, c.sql)
		if (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s: %v, want %q", c.sql, err, c.err)
		}
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
	want := []string{
		"connect", "SET x", "A", "USE d;B", "C", "close", "connect", "SET x", "USE none;D", "USE none;E", "close",
	}
	if diff := cmp.Diff(want, d.said); diff != "" {
		t.Error(diff)
	}
}
