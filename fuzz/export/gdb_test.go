package export

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// heldRun is a recorded torn snapshot whose statement was held.
func heldRun(t *testing.T) timeline.Run {
	t.Helper()
	text, err := os.ReadFile("../../oracle/promise/testdata/held.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r struct {
			Note, Case string
			History    *history.History
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(r.Note, promise.Torn) {
			continue
		}
		c, err := corpus.Parse("held", []byte(r.Case))
		if err != nil {
			t.Fatal(err)
		}
		g, err := promise.Judge(c, r.History, func(q *history.Solo) (*history.SoloAnswer, error) { return r.History.Solos[q.Key()], nil })
		if err != nil {
			t.Fatal(err)
		}
		v := oracle.ByPromise(c, r.History, &oracle.Verdict{}, &g)
		return timeline.Run{File: "held.sql", Target: "mariadb:11.8", Case: c, Levels: r.History.Levels, History: r.History, Verdict: v}
	}
	t.Fatal("no torn snapshot is recorded")
	return timeline.Run{}
}

// TestGDB holds what a script for gdb has to say, that reports hold it, and that forms which only send statements
// refuse the case.
func TestGDB(t *testing.T) {
	run := heldRun(t)
	held, _ := run.Case.Held()
	at := run.Case.Steps[held].Hold
	tl := timeline.Of(run)
	f, err := Write(tl, "gdb", Test)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()", "place = base + 0x", at.Build,
		"if self.executions < ", `== "mariadbd"`, "release", "COMMIT; -- tx",
	} {
		if !strings.Contains(string(f.Text), want) {
			t.Errorf("the script does not hold %q:\n%s", want, f.Text)
		}
	}
	if strings.Contains(string(f.Text), "@") {
		t.Errorf("a blank was left unfilled:\n%s", f.Text)
	}
	for _, form := range []string{"jira", "markdown"} {
		f, err := Write(tl, form, Test)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(f.Text), "gdb.BP_HARDWARE_BREAKPOINT") {
			t.Errorf("%s does not hold the script", form)
		}
	}
	for _, form := range onlySend {
		if _, err := Write(tl, form, Test); err == nil || !strings.Contains(err.Error(), "--format gdb") {
			t.Errorf("%s: %v", form, err)
		}
	}
	onPostgres := run
	h := *run.History
	h.Server.DBMS = history.PostgreSQL
	onPostgres.History = &h
	if f, err = Write(timeline.Of(onPostgres), "gdb", Test); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"SELECT pg_backend_pid();", "PID=that number TID=that number gdb", `== "postgres"`} {
		if !strings.Contains(string(f.Text), want) {
			t.Errorf("of PostgreSQL the script does not hold %q:\n%s", want, f.Text)
		}
	}
	named := *at
	named.Function = "_Z3fooi"
	if got := addressOf(&named); !strings.HasPrefix(got, `int(gdb.parse_and_eval("(unsigned long)&'_Z3fooi'")) + 0x`) {
		t.Errorf("by a symbol: %s", got)
	}
}
