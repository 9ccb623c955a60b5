package against

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const pairText = `
/* init */ CREATE TABLE t (a INT, b VARCHAR(5));
/* init */ INSERT INTO t VALUES (1, 'a');
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx1 */ UPDATE t SET a = 2 WHERE a = 1;
/* tx2 */ UPDATE t SET a = 3 WHERE a = 1;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ SELECT BIT_COUNT(a) FROM t;
/* tx2 */ COMMIT;
`

// scene is what a server did with the case.
type scene struct {
	server  history.Server
	level   corpus.Level
	verdict oracle.Verdict
	// waits says that the second UPDATE waits until the COMMIT.
	waits bool
	// changes replaces answers, by line.
	changes map[int]history.Result
	final   string
	refused int // a line whose text is refused; 0: none
}

var (
	mysql    = history.Server{DBMS: history.MySQL, Version: "9.7.4", Settings: map[string]string{"log_bin": "ON", "binlog_format": "ROW", "collation_server": "x"}}
	noBinlog = history.Server{DBMS: history.MySQL, Version: "9.7.4", Settings: map[string]string{"log_bin": "OFF", "collation_server": "x"}}
	snapshot = history.Server{DBMS: history.MariaDB, Version: "11.8.9", Settings: map[string]string{"innodb_snapshot_isolation": "ON", "collation_server": "x"}}
	postgres = history.Server{DBMS: history.PostgreSQL, Version: "18.4"}
	older    = history.Server{DBMS: history.PostgreSQL, Version: "12.22"}
	mended   = history.Server{DBMS: history.PostgreSQL, Version: "18.5"}
	old      = history.Server{DBMS: history.MariaDB, Version: "10.11.18", Settings: map[string]string{"innodb_snapshot_isolation": "OFF", "collation_server": "y"}}
)

func failed(code uint16) history.Result {
	return history.Result{Matched: -1, Changed: -1, Affected: -1, Err: &history.Error{Code: code, Message: "message"}}
}

func counted(matched, changed int64) history.Result {
	return history.Result{Matched: matched, Changed: changed, Affected: changed}
}

func returned(cells ...string) history.Result {
	r := history.Result{Columns: []string{"a"}, Matched: -1, Changed: -1, Affected: -1}
	for _, c := range cells {
		r.Rows = append(r.Rows, []history.Cell{{Text: c}})
	}
	return r
}

// side plays a scene: one tick for each submission and answer, the waiting statement's
// behind the COMMIT.
func (s scene) side(c *corpus.Case) *Side {
	h := &history.History{Server: s.server, Levels: map[int]corpus.Level{1: s.level, 2: s.level}}
	tick := history.Tick(0)
	next := func() history.Tick { tick++; return tick }
	for i, l := range c.Steps {
		st := history.Stmt{Line: i, Session: l.Session, Submit: next(), Result: history.Result{Matched: -1, Changed: -1}}
		switch i {
		case 2, 3:
			st.Result = counted(1, 1)
		case 5:
			st.Result = returned("2")
		}
		if r, ok := s.changes[i]; ok {
			st.Result = r
		}
		st.RefusedAlone = s.refused != 0 && i == s.refused
		if i == 3 && s.waits {
			st.Waits = []history.Wait{{Kind: history.RowLock, From: next()}}
		} else {
			st.Return = next()
		}
		h.Stmts = append(h.Stmts, st)
		if i == 4 && s.waits {
			h.Stmts[3].Waits[0].Until, h.Stmts[3].Return = next(), next()
		}
	}
	table := func(v string) []history.Table {
		return []history.Table{{Name: "t", Columns: []string{"a"}, Rows: [][]history.Cell{{{Text: v}}}}}
	}
	h.Initial, h.Final = table("1"), table("2"+s.final)
	v := s.verdict
	if v.Outcome == "" {
		v = oracle.Verdict{Outcome: oracle.OK, Stmt: -1}
	}
	return &Side{Name: string(s.server.DBMS), Server: s.server, History: h, Verdict: v}
}

func TestDifferencesAndWhatTheyArePutDownTo(t *testing.T) {
	const rc, rr = corpus.ReadCommitted, corpus.RepeatableRead
	known := func(stmt int, rules ...string) oracle.Verdict {
		return oracle.Verdict{Outcome: oracle.Known, Rules: rules, Stmt: stmt}
	}
	at := func(line int, r history.Result) map[int]history.Result { return map[int]history.Result{line: r} }
	warned := returned("2")
	warned.Warnings = 1
	for _, c := range []struct {
		name          string
		first, second scene
		want          []string // kind, step, attribution, a part of the reason
	}{
		{"the same", scene{server: mysql, level: rr}, scene{server: snapshot, level: rr}, nil},
		{"the same waits", scene{server: mysql, level: rr, waits: true}, scene{server: snapshot, level: rr, waits: true}, nil},
		{"the order of rows", scene{server: mysql, level: rr, changes: at(5, returned("1", "2"))}, scene{server: mysql, level: rr, changes: at(5, returned("2", "1"))}, nil},
		{"a count that one does not tell", scene{server: mysql, level: rr, changes: at(3, counted(0, 0))}, scene{server: snapshot, level: rr, changes: at(3, counted(-1, -1))}, nil},

		{"what follows a wait is not compared",
			scene{server: mysql, level: rr, waits: true}, scene{server: snapshot, level: rr, changes: at(5, returned("9")), final: "9"},
			[]string{"wait 4 both-right scans"}},
		{"two builds wait alike",
			scene{server: mysql, level: rr, waits: true}, scene{server: mysql, level: rr},
			[]string{"wait 4 unattributed "}},
		{"a rule that only one has, in a wait",
			scene{server: mysql, level: rc}, scene{server: snapshot, level: rc, waits: true},
			[]string{"wait 4 rule semi-consistent-read on mysql 9.7"}},
		{"not at a level where neither has it",
			scene{server: old, level: rr}, scene{server: snapshot, level: rr, waits: true},
			[]string{"wait 4 both-right scans"}},
		{"snapshot isolation, and what follows",
			scene{server: mysql, level: rr}, scene{server: snapshot, level: rr, changes: map[int]history.Result{3: failed(1020), 5: returned("7")}, final: "7"},
			[]string{"error 4 rule 1020", "rows 6 rule 1020 follows", "final 0 rule 1020 follows"}},
		{"1020 without the setting",
			scene{server: old, level: rr}, scene{server: old, level: rr, changes: at(3, failed(1020))},
			[]string{"error 4 unattributed "}},
		{"a deviation that a verdict names",
			scene{server: mysql, level: rr, verdict: known(5, "no-op-update-unseen"), changes: at(5, returned("1"))}, scene{server: noBinlog, level: rr},
			[]string{"rows 6 rule no-op-update-unseen on mysql 9.7, binlog_format=ROW, log_bin=ON"}},
		{"not before it shows",
			scene{server: mysql, level: rr, verdict: known(5, "no-op-update-unseen")}, scene{server: noBinlog, level: rr, changes: at(3, counted(1, 0))},
			[]string{"count 4 unattributed "}},
		{"a deviation that both builds have comes by chance",
			scene{server: snapshot, level: rr, verdict: known(5, "moved-row"), changes: at(5, returned("1"))}, scene{server: snapshot, level: rr},
			[]string{"rows 6 unattributed "}},

		{"NOWAIT", scene{server: mysql, level: rr, changes: at(3, failed(3572))}, scene{server: snapshot, level: rr, changes: at(3, failed(1205))},
			[]string{"error 4 error-code NOWAIT"}},
		{"the other way round", scene{server: snapshot, level: rr, changes: at(3, failed(1205))}, scene{server: mysql, level: rr, changes: at(3, failed(3572))},
			[]string{"error 4 error-code NOWAIT"}},
		{"not on one DBMS", scene{server: mysql, level: rr, changes: at(3, failed(3572))}, scene{server: mysql, level: rr, changes: at(3, failed(1205))},
			[]string{"error 4 unattributed "}},

		{"refused by its text", scene{server: mysql, level: rr}, scene{server: snapshot, level: rr, changes: at(5, failed(1064)), refused: 5},
			[]string{"error 6 dialect parser"}},
		{"the same error, not by its text", scene{server: mysql, level: rr}, scene{server: snapshot, level: rr, changes: at(5, failed(1064))},
			[]string{"error 6 unattributed "}},
		{"the digits of a FLOAT", scene{server: mysql, level: rr, changes: at(5, returned("0.1"))}, scene{server: snapshot, level: rr, changes: at(5, returned("0.10000000149"))},
			[]string{"rows 6 dialect digits"}},
		{"another number", scene{server: mysql, level: rr, changes: at(5, returned("0.1"))}, scene{server: snapshot, level: rr, changes: at(5, returned("0.2"))},
			[]string{"rows 6 unattributed "}},
		{"warnings", scene{server: mysql, level: rr, changes: at(5, warned)}, scene{server: snapshot, level: rr},
			[]string{"warnings 6 dialect conversion"}},
		{"warnings of two builds", scene{server: mysql, level: rr, changes: at(5, warned)}, scene{server: mysql, level: rr},
			[]string{"warnings 6 unattributed "}},
		{"another collation", scene{server: old, level: rr, changes: at(5, returned("1"))}, scene{server: snapshot, level: rr},
			[]string{"rows 6 rule collation_server"}},
		{"the victim of a deadlock, by the binary log", scene{server: mysql, level: rr, changes: map[int]history.Result{2: counted(1, 0), 3: failed(1213)}}, scene{server: noBinlog, level: rr, changes: at(2, counted(1, 0))},
			[]string{"error 4 rule log_bin"}},
		{"not where every UPDATE changes something", scene{server: mysql, level: rr, changes: at(3, failed(1213))}, scene{server: noBinlog, level: rr},
			[]string{"error 4 unattributed "}},
		{"the victim of a deadlock", scene{server: mysql, level: rr, changes: at(3, failed(1213))}, scene{server: snapshot, level: rr},
			[]string{"error 4 both-right deadlock"}},

		{"a violation on the second", scene{server: mysql, level: rr}, scene{server: snapshot, level: rr, changes: at(5, returned("9")), verdict: oracle.Verdict{Outcome: oracle.Violation, Kind: "dirty-read", Stmt: 5}},
			[]string{"rows 6 unattributed dirty-read", "verdict 6 unattributed dirty-read"}},
		{"a violation on the first is reported already", scene{server: mysql, level: rr, changes: at(5, returned("9")), verdict: oracle.Verdict{Outcome: oracle.Violation, Kind: "dirty-read", Stmt: 5}}, scene{server: snapshot, level: rr},
			[]string{"rows 6 reported dirty-read"}},
		{"a violation that shows in no difference", scene{server: mysql, level: rr}, scene{server: snapshot, level: rr, verdict: oracle.Verdict{Outcome: oracle.Violation, Kind: "missing-error", Stmt: 3}},
			[]string{"verdict 4 unattributed missing-error"}},
		{"a function that only one version has", scene{server: postgres, level: rr}, scene{server: older, level: rr, changes: at(6, failed(42883))},
			[]string{"error 7 dialect bit_count"}},
		{"the same error of another function", scene{server: postgres, level: rr}, scene{server: older, level: rr, changes: at(5, failed(42883))},
			[]string{"error 6 unattributed "}},
		{"not within a version", scene{server: postgres, level: rr}, scene{server: mended, level: rr, changes: at(6, failed(42883))},
			[]string{"error 7 unattributed "}},
		{"the victim of a deadlock on two versions of PostgreSQL", scene{server: postgres, level: rr, changes: at(3, failed(40901))}, scene{server: older, level: rr},
			[]string{"error 4 both-right difficult"}},
		{"PostgreSQL does not choose what it locks", scene{server: postgres, level: rr, waits: true}, scene{server: older, level: rr},
			[]string{"wait 4 unattributed "}},
		{"no verdict is no excuse", scene{server: mysql, level: rr, changes: at(5, returned("9")), verdict: oracle.Verdict{Outcome: oracle.Unknown, Reason: "solver", Stmt: -1}}, scene{server: snapshot, level: rr},
			[]string{"rows 6 unattributed "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k, err := corpus.Parse("case", []byte(pairText))
			if err != nil {
				t.Fatal(err)
			}
			got := Compare(k, c.first.side(k), c.second.side(k))
			if len(got.Differences) != len(c.want) {
				t.Fatalf("%d differences, want %d: %+v", len(got.Differences), len(c.want), got.Differences)
			}
			for i := range got.Differences {
				d := &got.Differences[i]
				want := strings.SplitN(c.want[i], " ", 4)
				follows := strings.HasSuffix(want[3], " follows")
				reason := strings.TrimSuffix(want[3], " follows")
				if string(d.Kind) != want[0] || string(rune('1'+d.Stmt)) != want[1] || string(d.Attribution) != want[2] || !strings.Contains(d.Reason, reason) || d.Follows != follows {
					t.Errorf("%s %d %s %q follows %t, want %s", d.Kind, d.Stmt+1, d.Attribution, d.Reason, d.Follows, c.want[i])
				}
				if d.Attribution != Unattributed && d.Attribution != Reported && d.Link == "" {
					t.Error("no link")
				}
			}
		})
	}
}

func TestEveryRowOfTheTablesHasAReasonAndALink(t *testing.T) {
	for _, s := range sameErrors {
		if s.says == "" || !strings.HasPrefix(s.link, "https://") || s.codes[0] == s.codes[1] {
			t.Errorf("%+v", s)
		}
	}
	for _, d := range dialects {
		if d.says == "" || !strings.HasPrefix(d.link, "https://") {
			t.Errorf("%s %s", d.says, d.link)
		}
	}
	for _, f := range postgresFunctions {
		if f.says == "" || !strings.HasPrefix(f.link, "https://") {
			t.Errorf("%s %s", f.calls, f.link)
		}
	}
	for _, c := range slices.Concat(choices, postgresChoices) {
		if c.says == "" || !strings.HasPrefix(c.link, "https://") {
			t.Errorf("%+v", c)
		}
	}
}
