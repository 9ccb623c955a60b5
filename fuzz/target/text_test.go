package target

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
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

// sessionPanicLine was logged by TiDB when the COMMIT of a transaction met no
// lock where a restarted statement had left one.
const sessionPanicLine = `1.7952524038565872e+09	error	connection running loop panic	{"conn": 2097160, "session_alias": "", "lastSQL": "COMMIT", "err": "runtime error: invalid memory address or nil pointer dereference", "stack": "github.com/pingcap/tidb/pkg/server.(*clientConn).Run.func1\n\t/src/pkg/server/conn.go:1027\nruntime.gopanic\n\t/go/runtime/panic.go:860\nruntime.panicmem\n\t/go/runtime/panic.go:336\nruntime.sigpanic\n\t/go/runtime/signal_unix.go:931\ngithub.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*MVCCStore).prewritePessimistic\n\t/src/pkg/store/mockstore/unistore/tikv/mvcc.go:854\ngithub.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*MVCCStore).Prewrite\n\t/src/pkg/store/mockstore/unistore/tikv/mvcc.go:749\ngithub.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*Server).KvPrewrite\n\t/src/pkg/store/mockstore/unistore/tikv/server.go:355"}`

func TestSessionPanic(t *testing.T) {
	log := "peaceful\n" + sessionPanicLine + "\nmore\n"
	v := CrashVerdict(crashLines(log))
	const want = "panic: runtime error: invalid memory address or nil pointer dereference, in github.com/pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*MVCCStore).prewritePessimistic (mvcc.go:854)"
	if v.Actual != want {
		t.Errorf("%s\nwant %s", v.Actual, want)
	}
	const store = "pingcap/tidb/pkg/store/mockstore/unistore/tikv.(*MVCCStore)"
	frames := "; innermost first: " + store + ".prewritePessimistic (mvcc.go:854), " + store + ".Prewrite (mvcc.go:749), "
	if !strings.Contains(v.Reason, frames) {
		t.Errorf("reason %s", v.Reason)
	}
	again := strings.NewReplacer("1.7952524038565872e+09", "1.8e+09", "2097160", "7", `"COMMIT"`, `"commit"`).Replace(sessionPanicLine)
	if w := CrashVerdict(crashLines(again)); w.Fingerprint != v.Fingerprint {
		t.Errorf("one panic has the fingerprints %s and %s", v.Fingerprint, w.Fingerprint)
	}
	elsewhere := strings.Replace(sessionPanicLine, "prewritePessimistic", "prewriteOptimistic", 1)
	if w := CrashVerdict(crashLines(elsewhere)); w.Fingerprint == v.Fingerprint {
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
	if Ours(tidbPanic) {
		t.Error("a crash of the server is taken for one of the oracle")
	}
	if !Ours(strings.Replace(tidbPanic, "github.com/pingcap/tidb/pkg/executor.(*UpdateExec).Next", "github.com/txnfuzz/txnfuzz/oracle/solve.(*Solver).KeyOf", 1)) {
		t.Error("a crash of the oracle is taken for one of the server")
	}
	if v := CrashVerdict(tidbPanic); v.Kind != oracle.ServerCrash || v.Actual != "panic: runtime error: index out of range [3] with length 2, in github.com/pingcap/tidb/pkg/executor.(*UpdateExec).Next (update.go:21)" {
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

func TestCheckTarget(t *testing.T) {
	for _, name := range []string{"nothing", "", "a/b@", "dsn"} {
		if err := Check(name); err == nil {
			t.Errorf("%q is taken for a target", name)
		}
	}
	if err := Check("root@tcp(localhost:3306)/"); err != nil {
		t.Error(err)
	}
}
