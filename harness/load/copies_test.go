package load

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// TestStatesOfCopies: a copy holds what was committed to one place in the log, and that place lies between the copy's
// beginning and its end.
func TestStatesOfCopies(t *testing.T) {
	servers := []struct {
		way    Backup
		server history.Server
	}{
		{Backup(harness.MySQLClone), history.Server{DBMS: history.MySQL}},
		{Backup(harness.MariaDBBackup),
			history.Server{DBMS: history.MariaDB, Settings: map[string]string{"innodb_snapshot_isolation": "ON"}}},
		{Backup(harness.BaseBackup), history.Server{DBMS: history.PostgreSQL}},
	}
	for _, c := range []struct {
		name            string
		clients, copies string
		levels          []corpus.Level // at which it is a finding; nil: at none
	}{
		{"all that was committed before", `
			1 ok 1-2: append 1 1; append 2 2
			2 ok 3-4: append 1 3`, `
			9 ok 5-9: r 1 [1 3]; r 2 [2]`,
			nil},
		{"one of two that came while it was taken", `
			1 ok 1-2: append 1 1; append 2 2
			2 ok 5-6: append 1 3; append 2 4
			3 ok 5-7: append 1 5`, `
			9 ok 4-9: r 1 [1 3]; r 2 [2 4]`,
			nil},
		{"half a transaction", `
			1 ok 1-2: append 1 1; append 2 2
			2 ok 5-6: append 1 3; append 2 4`, `
			9 ok 4-9: r 1 [1 3]; r 2 [2]`,
			corpus.Levels},
		{"without what was acknowledged before it was begun", `
			1 ok 1-2: append 1 1
			2 ok 3-4: append 1 3`, `
			9 ok 5-9: r 1 [1]`,
			corpus.Levels},
		{"with what was begun when it was complete", `
			1 ok 1-2: append 1 1
			2 ok 8-9: append 1 3`, `
			9 ok 3-5: r 1 [1 3]`,
			corpus.Levels},
		{"what was rolled back", `
			1 ok 1-2: append 1 1
			2 fail 3-4: append 1 3`, `
			9 ok 5-9: r 1 [1 3]`,
			corpus.Levels},
		{"an earlier state than the copy before", `
			1 ok 1-9: append 1 1`, `
			9 ok 2-4: r 1 [1]
			9 ok 5-7: r 1 []`,
			corpus.Levels},
		{"a commit without the one that it follows", `
			1 ok 1-9: append 1 1; append 2 2
			2 ok 1-9: append 2 3`, `
			9 ok 3-8: r 1 []; r 2 [2 3]`,
			corpus.Levels},
		{"a commit without the one that was acknowledged before it began", `
			1 ok 3-4: append 1 1
			2 ok 5-6: append 2 3`, `
			9 ok 2-8: r 1 []; r 2 [3]`,
			corpus.Levels},
		// The log may have them in another order than the server has shown them.
		{"commits in another order than a client has seen them", `
			1 ok 1-9: append 1 1
			2 ok 1-9: append 2 2
			3 ok 1-9: r 1 [1]; r 2 []`, `
			9 ok 1-9: r 1 []; r 2 [2]`,
			nil},
	} {
		for _, s := range servers {
			for _, level := range corpus.Levels {
				r := &run{
					backend:  onTape{server: s.server},
					settings: Settings{Level: level, Workload: "append", Found: t.TempDir(), Clients: 2, Backup: s.way},
					workload: appends{}, begun: time.Now(), database: "x",
				}
				j, err := newJudge(r)
				if err != nil {
					t.Fatal(err)
				}
				clients, copies := parseTape(t, c.clients), parseTape(t, c.copies)
				final := parseTape(t, finalOf(c.clients))
				copies.on(string(s.way))
				copies.copied = true
				if err := j.isolation(&epoch{}, inOrder([]*tape{clients, copies, final})); err != nil {
					t.Fatal(err)
				}
				if found := len(j.findings) > 0; found != slices.Contains(c.levels, level) {
					t.Errorf("%s, %s at %s: found %+v", c.name, s.way, level, j.findings)
				}
				for _, f := range j.findings {
					h, err := kv.LoadFile(f.File, "")
					if err != nil {
						t.Fatal(err)
					}
					ofCopy := false
					for i := range h.Len() {
						ofCopy = ofCopy || h.Node(i) == string(s.way)
					}
					if !ofCopy || !strings.Contains(f.Promised, "https://") {
						t.Errorf("%s, %s: %s has no copy, or promised %q", c.name, s.way, f.File, f.Promised)
					}
				}
			}
		}
	}
}

// finalOf is the read that ends an epoch in which the lists 1 and 2 were appended to in order, as a tape.
func finalOf(clients string) string {
	lists := map[string][]string{"1": nil, "2": nil}
	for line := range strings.Lines(clients) {
		if strings.Contains(line, " fail ") {
			continue
		}
		_, ops, _ := strings.Cut(line, ": ")
		for op := range strings.SplitSeq(ops, ";") {
			if f := strings.Fields(op); len(f) == 3 && f[0] == "append" {
				lists[f[1]] = append(lists[f[1]], f[2])
			}
		}
	}
	return "0 ok 20-21: r 1 [" + strings.Join(lists["1"], " ") + "]; r 2 [" + strings.Join(lists["2"], " ") + "]"
}

// TestEpochWaitsForCopy: an epoch becomes longer for a copy, within bounds.
func TestEpochWaitsForCopy(t *testing.T) {
	for _, c := range []struct {
		copying, short bool
		full           int // recorded transactions of one client that end it
		lasts          bool
	}{
		{false, false, 4, false},
		{true, false, 4 * copyLead, true},
		{true, true, 4, true}, // its clients become slower instead
	} {
		e := &epoch{quota: 4, short: c.short, ended: make(chan struct{})}
		e.copying.Store(c.copying)
		if e.full(c.full-1) || !e.full(c.full) {
			t.Errorf("%+v: not full with %d", c, c.full)
		}
		e.lasted()
		if e.over.Load() == c.lasts {
			t.Errorf("%+v: over when its time is up: %t", c, e.over.Load())
		}
		e.copied()
		if !e.over.Load() {
			t.Errorf("%+v: not over when its time is up and the copy is complete", c)
		}
		e.pace(3) // returns: the epoch is over
	}
}
