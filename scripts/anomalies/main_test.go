package main

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

var told = []pattern.Family{pattern.TwoItems, pattern.OneItem, pattern.Aborts, pattern.Conditions}

// expectedCells are cells of the page in its own words, by level.
var expectedCells = []struct {
	pattern string
	target  string
	cells   string // RU, RC, RR, SER
}{
	{"w1x w2x w2y w1y c1 c2", "mariadb:10.11", "wait; wait; wait; wait"},
	{"w1x w2y w2x w1y c1 c2", "mariadb:10.11", "1213; 1213; 1213; 1213"},
	{"w1x w2y r2x r1y c1 c2", "mariadb:10.11", "**G1c**; read (G2-item); read (G2-item); 1213"},
	{"r1x w2x w2y c2 r1y c1", "mariadb:10.11", "**G-single**; **G-single**; read; wait"},
	{"r1x r2x w1x w2x c1 c2", "mariadb:10.11", "wait, **P4**; wait, **P4**; wait, **P4**; 1213"},
	{"r1x r2x w1x w2x c1 c2", "mariadb:11.8", "wait, **P4**; wait, **P4**; 1020; 1213"},
	{"r1x r2y w2x w1y c1 c2", "mariadb:11.8", "**G2-item**; **G2-item**; **G2-item**; 1213"},
	{"w1x r2x c1 c2", "mariadb:10.11", "**P1**; read; read; wait"},
	{"w1x r2x w2y c2 a1", "mariadb:10.11", "**G1a**; read; read; wait"},
	{"d1p r2p a1 c2", "mariadb:10.11", "**G1a**; read; read; wait"},
	{"r1p i2p c2 r1p c1", "mariadb:10.11", "**PMP**; **PMP**; read; wait"},
	{"r1p m2p c2 u1p c1", "mariadb:11.8", "**PMP**; **PMP**; 1020; wait"},
	{"r1p r2p o1p o2p c1 c2", "mariadb:11.8", "**G2-item**; **G2-item**; **G2-item**; 1213"},
	{"r1x w2x w2y c2 r1y c1", "postgres:18", "**G-single**; **G-single**; read; read"},
	{"r1x r2x w1x w2x c1 c2", "postgres:18", "wait, **P4**; wait, **P4**; 40001; 40001"},
	{"w1x w2y w2x c2 w1y c1", "postgres:18", "40P01; 40P01; 40P01; 40P01"},
	{"r1x r2y w2x w1y c1 c2", "postgres:18", "**G2-item**; **G2-item**; **G2-item**; 40001"},
	{"r1p m2p c2 u1p c1", "postgres:18", "**PMP**; **PMP**; read; read"},
	{"w1x r2x w2y r1y c1 c2", "postgres:18", "read (G2-item); read (G2-item); read (G2-item); 40001"},
}

// TestServers runs some patterns on real servers, and tells the program that they
// answered something else.
func TestServers(t *testing.T) {
	installed := target.Installed(t.Context())
	for _, name := range []string{"mariadb:10.11", "mariadb:11.8", "postgres:18"} {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(installed, name) {
				if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
					t.Fatal("TXNFUZZ_REQUIRE_SERVERS is set, and the server is not installed")
				}
				t.Skipf("not installed: scripts/servers %s does it", name)
			}
			on, err := target.Open(t.Context(), name, target.Options{Clean: true})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := on.Close(); err != nil {
					t.Error(err)
				}
			}()
			for _, x := range expectedCells {
				if x.target != name {
					continue
				}
				p := found(t, x.pattern)
				var got []string
				for _, l := range corpus.Levels {
					c, err := runCell(t.Context(), on, p, p.Case(), l)
					if err != nil {
						t.Fatal(err)
					}
					for _, s := range c.wrong {
						t.Errorf("%s at %s: %s", x.pattern, l.Short(), s)
					}
					got = append(got, c.text(p))
				}
				if s := strings.Join(got, "; "); s != x.cells {
					t.Errorf("%s: %s, want %s", x.pattern, s, x.cells)
				}
			}
			liesAreSeen(t, on)
		})
	}
}

// liesAreSeen changes the last answer of a run at REPEATABLE READ to that of a read
// skew: the program must see the anomaly, and that it is not allowed.
func liesAreSeen(t *testing.T, on *target.Target) {
	p := found(t, "r1x w2x w2y c2 r1y c1")
	c := p.Case()
	r := on.Judge(t.Context(), c, target.LevelsFor(c, corpus.RepeatableRead))
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if o, _ := look(p, r.History); o != readOther {
		t.Fatalf("outcome %d, want %d", o, readOther)
	}
	for i := range r.History.Stmts {
		if s := &r.History.Stmts[i]; s.Line == p.Line(4) {
			s.Result.Rows[0][1].Text = "22"
		}
	}
	var lie cell
	lie.outcome, _ = look(p, r.History)
	again := on.JudgeRecorded(t.Context(), c, r.History)
	if err := lie.check(p, r.History, &again.Verdict, corpus.RepeatableRead); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(lie.wrong, "\n")
	for _, want := range []string{"the verdict is violation", "read skew (G-single) was seen", "the oracle names nothing"} {
		if !strings.Contains(all, want) {
			t.Errorf("a lie gives outcome %d and %q, want %q", lie.outcome, all, want)
		}
	}
}

func found(t *testing.T, name string) *pattern.Pattern {
	t.Helper()
	p, err := pattern.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestWhatIsBarred: what is seen where must not be is named, and what may be is not.
func TestWhatIsBarred(t *testing.T) {
	snapshots := history.Server{DBMS: history.MariaDB, Version: "11.8.9", Settings: map[string]string{"innodb_snapshot_isolation": "ON"}}
	plain := history.Server{DBMS: history.MySQL, Version: "9.7.4"}
	for _, x := range []struct {
		pattern string
		server  history.Server
		level   corpus.Level
		outcome outcome
		oracle  model.Kind
		want    string // part of what is said; empty: nothing is
	}{
		{"w1x w2y r2x r1y c1 c2", plain, corpus.ReadUncommitted, seen, model.G1c, ""},
		{"w1x w2y r2x r1y c1 c2", plain, corpus.ReadCommitted, seen, model.G1c, "circular flow of information (G1c) was seen"},
		{"w1x w2y r2x r1y c1 c2", plain, corpus.ReadCommitted, readOther, model.G1c, "which forbids G1c"},
		{"w1x r2x c1 c2", plain, corpus.ReadCommitted, seen, "", "dirty read (P1) was seen"},
		{"w1x r2x c1 c2", plain, corpus.ReadUncommitted, seen, "", ""},
		{"w1x w2x c1 c2", plain, corpus.ReadUncommitted, seen, "", "a dirty write did not wait"},
		{"r1x w2x c2 r1x c1", plain, corpus.ReadCommitted, seen, model.GSingleItem, ""},
		{"r1x w2x c2 r1x c1", plain, corpus.RepeatableRead, seen, model.GSingleItem, "non-repeatable read"},
		{"r1x w2x c2 w1x c1", plain, corpus.RepeatableRead, seen, model.LostUpdate, ""},
		{"r1x w2x c2 w1x c1", snapshots, corpus.RepeatableRead, seen, model.LostUpdate, "promises snapshot-isolation, which forbids lost-update"},
		{"r1x w2x c2 w1x c1", snapshots, corpus.ReadCommitted, seen, model.LostUpdate, ""},
		{"r1x r2y w2x w1y c1 c2", snapshots, corpus.RepeatableRead, seen, model.G2Item, ""},
		{"r1x r2y w2x w1y c1 c2", plain, corpus.Serializable, seenLater, model.G2Item, "write skew (G2-item) was seen"},
		{"r1x r2y w2x w1y c1 c2", plain, corpus.RepeatableRead, seen, "", "the oracle names nothing"},
		{"r1x r2y w2x w1y c1 c2", plain, corpus.Serializable, failed, "", ""},
		{"r1x r2y w2x w1y c1 c2", plain, corpus.RepeatableRead, notJudged, "", "did not end"},
	} {
		c := cell{outcome: x.outcome}
		if x.oracle != "" {
			c.phenomena = []model.Kind{x.oracle}
		}
		h := &history.History{Server: x.server}
		if err := c.check(found(t, x.pattern), h, &oracle.Verdict{Outcome: oracle.OK}, x.level); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.wrong, "; "); x.want == "" && got != "" || !strings.Contains(got, x.want) {
			t.Errorf("%s at %s, outcome %d: %q, want %q", x.pattern, x.level.Short(), x.outcome, got, x.want)
		}
	}
}

// TestEveryKindHasAForm: the names of the forms are those of the kinds, and with three
// transactions it is the edge before the anti-dependency that decides.
func TestEveryKindHasAForm(t *testing.T) {
	met := map[string]bool{}
	for _, f := range append(slices.Clone(told), pattern.ThreeItems) {
		for _, p := range pattern.Of(f) {
			met[p.Kind] = true
			if _, ok := forms[p.Kind]; !ok && f != pattern.TwoItems && f != pattern.ThreeItems {
				t.Errorf("%s has no form", p.Kind)
			}
		}
	}
	for k := range forms {
		if !met[k] {
			t.Errorf("no pattern is of the form %s", k)
		}
	}
	for k, want := range map[string]bar{
		"ww ww ww": never, "ww ww wr": fromRC, "wr wr rw": fromRR, "ww wr rw": fromRR, "ww rw wr": fromSnapshot, "ww ww rw": fromSnapshot, "rw rw rw": fromSerializable, "wr rw rw": fromSerializable,
	} {
		if got := formOf(&pattern.Pattern{Kind: k}).bar; got != want {
			t.Errorf("%s is barred by %d, want %d", k, got, want)
		}
	}
}

// TestPageIsCurrent: the page in docs begins with this program's words, and has a row
// of each pattern, each cell filled in.
func TestPageIsCurrent(t *testing.T) {
	text, err := os.ReadFile("../../docs/anomalies.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	if !strings.HasPrefix(page, head) {
		t.Error("docs/anomalies.md begins otherwise: go run -tags notidb ./scripts/anomalies writes it")
	}
	for _, f := range told {
		if !strings.Contains(page, "\n## "+sections[f].title+"\n\n"+sections[f].says) {
			t.Errorf("docs/anomalies.md has another section %q", sections[f].title)
		}
		for _, p := range pattern.Of(f) {
			_, row, ok := strings.Cut(page, "\n| `"+p.Name()+"` | ")
			row, _, _ = strings.Cut(row, "\n")
			if !ok || row == "" || strings.Contains(row, "?") {
				t.Errorf("docs/anomalies.md has no whole row of %s", p.Name())
			}
		}
	}
}

func TestPrint(t *testing.T) {
	var b bytes.Buffer
	if err := run(t.Context(), options{show: "w1x r2x a1 c2"}, &b); err != nil {
		t.Fatal(err)
	}
	c, err := corpus.Parse("printed", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if name, _ := c.Get("source"); name != "pattern w1x r2x a1 c2 (aborted read)" || len(c.Steps) != 6 {
		t.Errorf("printed:\n%s", b.String())
	}
	if err := run(t.Context(), options{show: "w1x"}, &b); !errors.Is(err, errUsage) {
		t.Errorf("a name that is none: %v", err)
	}
	if err := run(t.Context(), options{}, &b); !errors.Is(err, errUsage) {
		t.Errorf("nothing to do: %v", err)
	}
}
