package fuzz

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestSeenBefore holds what the published cases do here against what another
// program saw them do on the same servers. It asks no oracle: a harness that
// submits in another order, or misses an answer, shows here even where the
// oracle follows it.
func TestSeenBefore(t *testing.T) {
	text, err := os.ReadFile("testdata/seen-innodb.txt")
	if err != nil {
		t.Fatal(err)
	}
	var table [][]string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			table = append(table, strings.Split(strings.TrimSpace(line), "\t"))
		}
	}
	installed := target.Installed(t.Context())
	var compared atomic.Int64
	for column, name := range table[0][1:] {
		if !slices.Contains(installed, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			on := targettest.Open(t, name, target.Options{Clean: true})
			for _, row := range table[1:] {
				c, err := corpus.Load(filepath.Join(fromRoot(findings.KnownDir), row[0]+corpus.Ext))
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range strings.Split(row[column+1], "/") {
					r := on.Judge(t.Context(), c, target.LevelsFor(c, corpus.Levels[i]))
					if r.History == nil {
						t.Errorf("%s at %s: %v", row[0], corpus.Levels[i].Short(), r.Err)
						continue
					}
					compared.Add(1)
					if got := seenMark(t, c, r.History, corpus.Levels[i]); got != want {
						t.Errorf("%s at %s: %s, seen before %s", row[0], corpus.Levels[i].Short(), got, want)
					}
				}
			}
		})
	}
	t.Cleanup(func() { // behind what runs in parallel
		n, cells := int(compared.Load()), 4*(len(table)-1)*(len(table[0])-1)
		t.Logf("%d cells compared", n)
		if n < cells && os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
			t.Errorf("%d of %d cells compared: a server is not installed", n, cells)
		}
	})
}

// seenMark is what a case did, in the terms of its header.
func seenMark(t *testing.T, c *corpus.Case, h *history.History, level corpus.Level) string {
	t.Helper()
	for i := range h.Stmts {
		if e := h.Stmts[i].Result.Err; e != nil {
			switch e.Code {
			case 1020:
				return "E"
			case 1213:
				return "D"
			}
			if level == corpus.Serializable {
				return "x"
			}
		}
	}
	observe, _ := c.Get("observe")
	var seen string
	switch where, table, _ := strings.Cut(observe, " "); {
	case where == "trace":
		if len(statementOf(t, c, h, "tx2.2").Waits) > 0 {
			return "A"
		}
		return "."
	case where == "final":
		for _, x := range h.Final {
			if table == "" || x.Name == table {
				seen = timeline.Rows(x.Rows)
			}
		}
	default:
		seen = timeline.Rows(statementOf(t, c, h, observe).Result.Rows)
	}
	switch sortedRows(seen) {
	case sortedRows(headerAt(c, "anomaly", level)):
		return "A"
	case sortedRows(headerAt(c, "expected", level)):
		return "."
	}
	// At SERIALIZABLE the cell tells whether some serial order gives the same,
	// which the notes in the header do not.
	if level == corpus.Serializable || headerAt(c, "expected", level) == "" {
		return "."
	}
	return "? " + seen
}

// statementOf returns the n-th statement of session s for "txs.n".
func statementOf(t *testing.T, c *corpus.Case, h *history.History, name string) *history.Stmt {
	t.Helper()
	s, n, _ := strings.Cut(strings.TrimPrefix(name, "tx"), ".")
	session, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("observe %q: %v", name, err)
	}
	number, err := strconv.Atoi(n)
	if err != nil {
		t.Fatalf("observe %q: %v", name, err)
	}
	for line, l := range c.Steps {
		if l.Session != session {
			continue
		}
		if number--; number > 0 {
			continue
		}
		for i := range h.Stmts {
			if h.Stmts[i].Line == line {
				return &h.Stmts[i]
			}
		}
	}
	t.Fatalf("no statement %s", name)
	return nil
}

// headerAt returns a header line that may name levels: `anomaly (RR SER)`.
func headerAt(c *corpus.Case, key string, level corpus.Level) string {
	for _, f := range c.Header {
		rest, ok := strings.CutPrefix(f.Key, key)
		if !ok {
			continue
		}
		levels := strings.Fields(strings.Trim(strings.TrimSpace(rest), "()"))
		if len(levels) == 0 || slices.Contains(levels, level.Short()) {
			return f.Value
		}
	}
	return ""
}

// sortedRows makes lists of rows comparable as bags.
func sortedRows(text string) string {
	if text == "empty" {
		text = "no rows"
	}
	rows := strings.Fields(text)
	slices.Sort(rows)
	return strings.Join(rows, " ")
}
