package export

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// told is a run in which an error's message names the database of the run.
func told(t *testing.T) *timeline.Timeline {
	t.Helper()
	c, err := corpus.Parse("told", []byte(`
/* init */ CREATE TABLE t (b BIGINT);
/* tx1 */ SELECT * FROM t WHERE b * 4 > 5;
`))
	if err != nil {
		t.Fatal(err)
	}
	message := "BIGINT value is out of range in '`txnfuzz_1_2_3`.`t`.`b` * 4'"
	levels := map[int]corpus.Level{1: corpus.RepeatableRead}
	h := &history.History{
		Server: history.Server{DBMS: history.MySQL, Version: "9.7.4", Build: "(Debian)"}, Levels: levels,
		Stmts: []history.Stmt{{Line: 0, Session: 1, Submit: 1, Return: 2, Result: history.Result{Err: &history.Error{Code: 1690, Message: message}}}},
	}
	answer := oracle.Describe(c.Steps[0].Stmt, &h.Stmts[0].Result)
	tl := &timeline.Timeline{
		Run:      timeline.Run{File: "told.sql", Target: "mysql", Case: c, Levels: levels, History: h, Verdict: oracle.Verdict{Outcome: oracle.Known, Kind: "unexpected-error"}},
		Sessions: []int{1},
		Moments:  []timeline.Moment{{Step: 1, Session: 1, Answered: true, Differs: true, Answer: answer, Expected: "no rows"}},
		Account: oracle.Account{
			Steps: []oracle.Step{{Kind: "SELECT", Differs: true, Expected: "no rows", Actual: answer}},
			Why:   []string{"Known as index-condition-judges-unseen-rows: a SELECT judges entries."},
			Links: []string{"https://dev.mysql.com/x", "https://mariadb.com/docs/y"},
		},
	}
	return tl
}

// A maintainer knows neither the databases that this project makes nor the names of
// its rules, and answers for one vendor's manual.
func TestReportsAreForStrangers(t *testing.T) {
	for _, format := range Formats() {
		files, err := Write(told(t), format, Test)
		if err != nil {
			continue // another vendor's tracker
		}
		text := string(files.Text)
		for _, bad := range []string{"txnfuzz_", "Known as", "mariadb.com", "((Debian", "unexpected-error"} {
			if format == "json" && bad == "unexpected-error" {
				continue
			}
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %q:\n%s", format, bad, text)
			}
		}
		if want := "SELECT at REPEATABLE READ gives error 1690 instead of no rows"; !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%s", format, want, text)
		}
	}
}

func TestTitles(t *testing.T) {
	for _, x := range []struct{ expected, actual, want string }{
		{"(0,3,0)", "no rows", "gives no rows instead of (0,3,0)"},
		{"error 1020 (Record has changed)", "0 affected", "gives 0 affected instead of error 1020"},
		{"waits for tx2", "1 matched, 1 changed", "does not wait for a lock, but gives 1 matched, 1 changed"},
		{"(1)", "no answer", "waits instead of giving (1)"},
	} {
		if got := contrast(cut(x.expected), cut(x.actual)); got != x.want {
			t.Errorf("%s, %s: %s, want %s", x.expected, x.actual, got, x.want)
		}
	}
}
