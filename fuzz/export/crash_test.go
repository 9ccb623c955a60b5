package export

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// died is a run whose last statement, a KILL, the server did not live to answer; waits says that it was seen
// to wait until then.
func died(t *testing.T, dbms history.DBMS, reason string, waits bool) *timeline.Timeline {
	t.Helper()
	c, err := corpus.Parse("died", []byte(`-- reproduced: 10/10
-- versions: absent in 8.1.0; shows in 8.5.4
-- fixed: 0123456789ab (2020-02-02) Less *memory*

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE;
/* tx2 */ KILL tx1;
`))
	if err != nil {
		t.Fatal(err)
	}
	levels := map[int]corpus.Level{1: corpus.RepeatableRead, 2: corpus.RepeatableRead}
	h := &history.History{
		Server: history.Server{DBMS: dbms, Version: "v8.5.4", Build: "Release Version: v8.5.4\nStore: unistore"},
		Levels: levels,
		Stmts: []history.Stmt{
			{Line: 0, Session: 1, Submit: 1, Return: 2, Result: history.Result{InTxn: true}},
			{
				Line: 1, Session: 1, Submit: 3, Return: 4, InTxn: true,
				Result: history.Result{Columns: []string{"a"}, InTxn: true},
			},
			{Line: 2, Session: 2, Submit: 5},
		},
	}
	v := oracle.Verdict{
		Outcome: oracle.Violation, Kind: oracle.ServerCrash, Stmt: -1, Expected: "the server goes on",
		Actual: "panic: interrupted, in memory.(*Tracker).Consume (tracker.go:507)",
		Reason: reason,
	}
	run := timeline.Run{File: "died.sql", Target: "tidb", Case: c, Levels: levels, History: h, Verdict: v}
	tl := timeline.Of(run)
	tl.Moments[2].Waits = waits
	return tl
}

const diedInTracker = "the server died while the case ran; innermost first: " +
	"memory.(*Tracker).Consume (tracker.go:507), session.(*LazyTxn).cleanup (txn.go:563)"

// TestCrashReports: who reads a report of a crash can repeat it, KILL included, and sees what the
// server said when it died.
func TestCrashReports(t *testing.T) {
	for format, dbms := range map[string]history.DBMS{
		"markdown": history.TiDB, "tidb": history.TiDB, "jira": history.MariaDB, "bugs.mysql": history.MySQL,
		"json": history.TiDB, "two-terminals": history.TiDB, "mtr": history.TiDB, "go": history.TiDB,
	} {
		files, err := Write(died(t, dbms, diedInTracker, format != "jira"), format, Test)
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		text := strings.ReplaceAll(string(files.Text), `\`, "")
		wanted := []string{
			"REPEATABLE READ: the server dies: panic: interrupted", "memory.(*Tracker).Consume (tracker.go:507)",
		}
		switch format {
		case "markdown", "tidb", "jira", "bugs.mysql":
			wanted = append(wanted, "SELECT CONNECTION_ID(); -- in tx1: note the number", "tx2, step 3: ",
				"the server goes on", "It showed in 10 of 10 more runs. By version: absent in 8.1.0; shows in 8.5.4. It is fixed by commit ",
				"0123456789ab (2020-02-02) Less *memory*", "no answer, since the server dies")
		case "two-terminals":
			wanted = append(wanted, "finds it gone",
				"the number that SELECT CONNECTION_ID() gave in tx1. no answer, since the server dies")
		case "json":
			wanted = []string{`"fixed": "0123456789ab (2020-02-02) Less *memory*"`, `"versions": "absent in 8.1.0; shows in 8.5.4"`}
		case "mtr":
			wanted = append(wanted, "eval KILL $id1;")
		case "go":
			wanted = append(wanted, `{3, 2, "kill", "KILL <connection id of tx1>", 1,`)
		}
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("%s has no %q:\n%s", format, want, files.Text)
			}
		}
		for _, bad := range []string{"should hold", "never returns", "ROLLBACK", "No single answer is wrong"} {
			if strings.Contains(text, bad) && format != "go" { // whose code is for all cases
				t.Errorf("%s holds %q:\n%s", format, bad, files.Text)
			}
		}
	}
}

// TestCrashInTiDBsForm holds the middle of such a report.
func TestCrashInTiDBsForm(t *testing.T) {
	files, err := Write(died(t, history.TiDB, diedInTracker, false), "tidb", Test)
	if err != nil {
		t.Fatal(err)
	}
	want := "BEGIN; -- tx1, step 1\n" +
		"SELECT * FROM t WHERE a = 1 FOR UPDATE; -- tx1, step 2: shows no rows\n" +
		"KILL <connection id of tx1>; -- tx2, step 3, the number that SELECT CONNECTION_ID() gave in tx1: " +
		"no answer, since the server dies\n" +
		"-- The server may answer before it dies. One more statement, in any session, finds it gone.\n" +
		"```\n\n### 2. What did you expect to see? (Required)\n\n" +
		"tx2, step 3: `KILL <connection id of tx1>`  \nthe server goes on\n\n" +
		"### 3. What did you see instead (Required)\n\n" +
		"tx2, step 3: `KILL <connection id of tx1>`  \nthe server dies: `panic: interrupted`\n\n" +
		"```\npanic: interrupted\n\n" +
		"memory.(*Tracker).Consume (tracker.go:507)\nsession.(*LazyTxn).cleanup (txn.go:563)\n```\n"
	if text := string(files.Text); !strings.Contains(text, want) {
		t.Errorf("%s", text)
	}
}

// A panic may end one session and leave the server as it is.
func TestCrashOfOneSession(t *testing.T) {
	_, frames, _ := strings.Cut(diedInTracker, ";")
	reason := "the server ended the session on an internal error;" + frames
	files, err := Write(died(t, history.TiDB, reason, false), "tidb", Test)
	if err != nil {
		t.Fatal(err)
	}
	text, want := string(files.Text), "the server ends the session on an internal error: `panic: interrupted`"
	if !strings.Contains(text, want) || strings.Contains(text, "dies") {
		t.Errorf("%s", text)
	}
}
