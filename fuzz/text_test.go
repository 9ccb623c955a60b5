package fuzz

import (
	"reflect"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"embedded":                               "embedded",
		"mariadb:11.8,snapshot=off":              "mariadb:11.8,snapshot=off",
		"root@unix(/run/s)/":                     "root@unix(/run/s)/",
		"root:hush@tcp(localhost:3306)/":         "root:***@tcp(localhost:3306)/",
		"root:a@b:c@tcp(localhost:3306)/?tls=no": "",
		"root:hush@tcp(localhost:1/":             "***@tcp(localhost:1/",
	} {
		got := Redact(in)
		if want != "" && got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if strings.Contains(got, "hush") || strings.Contains(got, "a@b") {
			t.Errorf("%s: %s shows the password", in, got)
		}
	}
}

const tidbPanic = `[WARN] something before
panic: runtime error: index out of range [3] with length 2

goroutine 11824 [running]:
github.com/pingcap/tidb/pkg/executor.(*UpdateExec).Next(0xc001, {0x1, 0x2})
	/src/pkg/executor/update.go:21 +0x12
github.com/pingcap/tidb/pkg/server.(*clientConn).Run(0xc002)
	/src/pkg/server/conn.go:1 +0x1
`

// sessionPanicLine was logged by TiDB when the COMMIT of a transaction met no
// lock where a restarted statement had left one.
const sessionPanicLine = `1.7952524038565872e+09	error	connection running loop panic	{"conn": 2097160, "session_alias": "", "lastSQL": "COMMIT", "err": "runtime error: invalid memory address or nil pointer dereference", "stack": "github.com/pingcap/tidb/pkg/server.(*clientConn).Run.func1\n\t/src/pkg/server/conn.go:1027\nruntime.gopanic\n\t/go/runtime/panic.go:860\nruntime.panicmem\n\t/go/runtime/panic.go:336\nruntime.sigpanic\n\t/go/runtime/signal_unix.go:931\ngithub.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*MVCCStore).prewritePessimistic\n\t/src/pkg/store/mockstore/unistore/tikv/mvcc.go:854\ngithub.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*MVCCStore).Prewrite\n\t/src/pkg/store/mockstore/unistore/tikv/mvcc.go:749\ngithub.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*Server).KvPrewrite\n\t/src/pkg/store/mockstore/unistore/tikv/server.go:355"}`

func TestSessionPanic(t *testing.T) {
	log := "peaceful\n" + sessionPanicLine + "\nmore\n"
	v := crashVerdict(crashLines(log))
	const want = "panic: runtime error: invalid memory address or nil pointer dereference, in github.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*MVCCStore).prewritePessimistic (mvcc.go:854)"
	if v.Actual != want {
		t.Errorf("%s\nwant %s", v.Actual, want)
	}
	again := strings.NewReplacer("1.7952524038565872e+09", "1.8e+09", "2097160", "7", `"COMMIT"`, `"commit"`).Replace(sessionPanicLine)
	if w := crashVerdict(crashLines(again)); w.Fingerprint != v.Fingerprint {
		t.Errorf("one panic has the fingerprints %s and %s", v.Fingerprint, w.Fingerprint)
	}
	elsewhere := strings.Replace(sessionPanicLine, "prewritePessimistic", "prewriteOptimistic", 1)
	if w := crashVerdict(crashLines(elsewhere)); w.Fingerprint == v.Fingerprint {
		t.Errorf("two panics have the fingerprint %s", v.Fingerprint)
	}
}

func TestCrashText(t *testing.T) {
	other := strings.NewReplacer("[3]", "[5]", "11824", "7", "0xc001", "0xc999").Replace(tidbPanic)
	if a, b := crashFingerprint(crashLines(tidbPanic)), crashFingerprint(crashLines(other)); a != b {
		t.Errorf("one crash has fingerprints %s and %s", a, b)
	}
	elsewhere := strings.Replace(tidbPanic, "UpdateExec", "DeleteExec", 1)
	if a, b := crashFingerprint(crashLines(tidbPanic)), crashFingerprint(crashLines(elsewhere)); a == b {
		t.Errorf("two crashes have the fingerprint %s", a)
	}
	if got := crashLines("ready for connections\nshutting down\n"); got != "" {
		t.Errorf("a crash in a peaceful log: %q", got)
	}
	if ours(tidbPanic) {
		t.Error("a crash of the server is taken for one of the oracle")
	}
	if !ours(strings.Replace(tidbPanic, "github.com/pingcap/tidb/pkg/executor.(*UpdateExec).Next", "github.com/txnfuzz/txnfuzz/oracle/solve.(*Solver).KeyOf", 1)) {
		t.Error("a crash of the oracle is taken for one of the server")
	}
	if v := crashVerdict(tidbPanic); v.Kind != KindCrash || v.Actual != "panic: runtime error: index out of range [3] with length 2, in github.com/pingcap/tidb/pkg/executor.(*UpdateExec).Next (update.go:21)" {
		t.Errorf("%+v", v)
	}
}

func TestCrashFilterHidesTheDump(t *testing.T) {
	var shown strings.Builder
	f := &crashFilter{to: &shown}
	for _, part := range []string{"progress\npan", "ic: boom\n", "\ngoroutine 1 [running]:\n"} {
		if _, err := f.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if shown.String() != "progress\n" {
		t.Errorf("shown: %q", shown.String())
	}
	if got := f.text(); got != "panic: boom\n\ngoroutine 1 [running]:\n" {
		t.Errorf("kept: %q", got)
	}
}

// What a finding's header says is what a case may say there; see
// corpus.CheckHeader.
func TestHeadersOfFindings(t *testing.T) {
	r := Trial{
		Case: parseCase(t, dirtyCase), Levels: map[int]corpus.Level{1: corpus.ReadCommitted, 2: corpus.RepeatableRead},
		Also: corpus.Levels, Defaults: "shows, too",
		Verdict: oracle.Verdict{Outcome: oracle.Known, Kind: "k", Rules: []string{"a", "b"}, Expected: "x", Actual: "y", Reason: "z", Fingerprint: "f", Stmt: -1},
	}
	c := describe(place{target: "mysql:9.7,binlog=off", server: history.Server{Version: "9.7", Settings: map[string]string{"a": "b"}}}, &r, origin{"in", "now"}, rates{3, Unconfirmed})
	for _, key := range []string{keySignal, keyServer, "bytes", "variant"} {
		c.Set(key, "1")
	}
	text := corpus.Print(c, corpus.Text)
	for _, d := range corpus.CheckHeader("finding.sql", text) {
		t.Errorf("%v in\n%s", d, text)
	}
	if cells := RecordedCells(c); len(cells) != 1 || Home(c) != "mysql:9.7,binlog=off" || Reproduced(c) != "3/10" {
		t.Errorf("%v, home %s, reproduced %s in\n%s", cells, Home(c), Reproduced(c), text)
	}
}

func TestInputsAreDistinct(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(8) {
		for worker := range 8 {
			for n := range 200 {
				s := freshSeed(seed, worker, n)
				if seen[s] {
					t.Fatalf("seed %d, worker %d, input %d has the input of another", seed, worker, n)
				}
				seen[s] = true
			}
		}
	}
}

func TestLevelName(t *testing.T) {
	for _, c := range []struct {
		levels map[int]corpus.Level
		want   string
	}{
		{map[int]corpus.Level{1: corpus.ReadCommitted, 2: corpus.ReadCommitted}, "RC"},
		{map[int]corpus.Level{3: corpus.Serializable, 1: corpus.ReadUncommitted}, "tx1=RU, tx3=SER"},
	} {
		if got := LevelName(c.levels); got != c.want {
			t.Errorf("%v: %q, want %q", c.levels, got, c.want)
		}
	}
}

// A case without a verdict counts as statements not judged: losses must not
// raise the share.
func TestCountsChargeUnknowns(t *testing.T) {
	c := parseCase(t, dirtyCase)
	h := &history.History{}
	for i, l := range c.Steps {
		h.Stmts = append(h.Stmts, history.Stmt{Line: i, Session: l.Session})
	}
	h.Stmts[3].Waits = []history.Wait{{Kind: history.RowLock}}
	h.Stmts[4].Result.Err = &history.Error{Code: errDeadlock}
	counts := newCounts()
	counts.add(&Trial{Case: c, History: h, Verdict: oracle.Verdict{Outcome: oracle.OK, Statements: 3, Judged: 3, Conflicting: true}})
	counts.add(&Trial{Case: c, History: h, counted: true, Verdict: oracle.Verdict{Outcome: oracle.Unknown, Reason: "loss"}})
	if got := counts.Judged(); got != 0.5 {
		t.Errorf("judged %v, want half", got)
	}
	if got := counts.Conflicting(); got != 0.5 {
		t.Errorf("conflicting %v, want half", got)
	}
	if counts.Cases != 2 || counts.Statements != 14 || counts.Blocked != 2 || counts.Deadlocks != 2 || counts.Unknown["loss"] != 1 {
		t.Errorf("%+v", counts)
	}
}

func TestMergedReports(t *testing.T) {
	a, b := &Report{Counts: newCounts(), Target: "embedded"}, &Report{Counts: newCounts(), ServerVersion: "8"}
	a.Cases, a.judged, a.judgeable, a.Known["x"] = 3, 4, 4, 1
	b.Cases, b.judged, b.judgeable, b.Known["x"] = 1, 0, 4, 2
	a.Features.merge(Features{"type": {"INT": 1}})
	b.Features.merge(Features{"type": {"INT": 2, "BIT": 0}})
	a.Findings = []Finding{{ID: "one", Seen: 1}}
	b.Findings = []Finding{{ID: "one", Seen: 2}, {ID: "two", Seen: 1}}
	m := merged(a, b)
	if m.Cases != 4 || m.JudgedShare != 0.5 || m.Known["x"] != 3 || m.ServerVersion != "8" || len(m.Findings) != 2 || m.Findings[0].Seen != 3 {
		t.Errorf("%+v", *m)
	}
	if want := (Features{"type": {"INT": 3, "BIT": 0}}); !reflect.DeepEqual(m.Features, want) {
		t.Errorf("features %v, want %v", m.Features, want)
	}
}

// Features count in cases that were judged in a conflict; elsewhere they are
// seen with the count 0.
func TestFeatures(t *testing.T) {
	c := parseCase(t, `-- level: READ COMMITTED
/* init */ CREATE TABLE t (a INT UNSIGNED PRIMARY KEY, b VARCHAR(10), KEY (b(2), a));
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = CONCAT(b, 'x') WHERE a NOT IN (1, 2) AND b LIKE 'k%';
/* tx1 */ SELECT COUNT(*) FROM t FOR UPDATE;
/* tx1 */ COMMIT;
`)
	h := &history.History{Stmts: []history.Stmt{{Result: history.Result{Err: &history.Error{Code: 1062}}}}}
	f := Features{}
	f.add(&Trial{Case: c, History: h, Verdict: oracle.Verdict{Outcome: oracle.Known, Rules: []string{"r"}, Conflicting: true}})
	f.add(&Trial{Case: c, Verdict: oracle.Verdict{Outcome: oracle.OK}})
	want := Features{
		"statement": {"UPDATE": 1, "SELECT FOR UPDATE": 1},
		"type":      {"INT UNSIGNED": 1, "VARCHAR": 1},
		"schema":    {"PRIMARY KEY": 1, "KEY": 1, "key of several columns": 1, "prefix key": 1},
		"operator":  {"AND": 1, "CONCAT": 1, "NOT IN": 1, "LIKE": 1, "COUNT": 1},
		"error":     {"1062": 1},
		"rule":      {"r": 1},
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("got %v, want %v", f, want)
	}
	u := Features{}
	u.add(&Trial{Case: c, Verdict: oracle.Verdict{Outcome: oracle.Unknown, Conflicting: true}})
	if n, seen := u["type"]["VARCHAR"]; !seen || n != 0 {
		t.Errorf("a case that was not judged counts: %v", u)
	}
}

func TestCheckTarget(t *testing.T) {
	for _, name := range []string{"nothing", "", "a/b@", "dsn"} {
		if err := checkTarget(name); err == nil {
			t.Errorf("%q is taken for a target", name)
		}
	}
	if err := checkTarget("root@tcp(localhost:3306)/"); err != nil {
		t.Error(err)
	}
}

// TestLoadKnown holds which stored cases are changed, and with how many chances.
func TestLoadKnown(t *testing.T) {
	dir := t.TempDir()
	for name, header := range map[string]string{
		"a-published": "-- source: https://example.org/1\n", "b-only-replayed": "-- seed: no, because it is slow\n",
		"c-found": "-- source: txnfuzz\n", "d-found-and-named": "-- source: txnfuzz\n-- seed: yes\n", "e-often": "-- source: txnfuzz\n-- seed: 3\n",
	} {
		if _, err := corpus.Save(dir, name, parseCase(t, header+"/* init */ CREATE TABLE `"+name+"` (a INT);\n/* tx1 */ SELECT 1;")); err != nil {
			t.Fatal(err)
		}
	}
	cases, err := LoadKnown(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		got = append(got, strings.Fields(corpus.SQL(c.Init[0].Stmt, corpus.Text))[2])
	}
	want := "a-published d-found-and-named e-often e-often e-often"
	if s := strings.ReplaceAll(strings.Join(got, " "), "`", ""); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}

func TestStoredSeeds(t *testing.T) {
	known, err := LoadKnown(fromRoot(StoredDir))
	if err != nil {
		t.Fatal(err)
	}
	if len(known) == 0 {
		t.Fatal("no stored cases")
	}
	for i, k := range known {
		for _, c := range PairCases(mutate.StoredInput(i, len(known)), known, mutate.Options{}) {
			if got, want := corpus.SQL(c.Init[0].Stmt, corpus.Text), corpus.SQL(k.Init[0].Stmt, corpus.Text); got != want {
				t.Errorf("the seed of case %d makes one of %s, not of %s", i, got, want)
			}
		}
	}
}
