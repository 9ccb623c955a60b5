package promise

import (
	"errors"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestPostgres holds histories of PostgreSQL, most of them made to be called broken: those that are as promised, those
// that are not serializable, and those that nobody can tell.
func TestPostgres(t *testing.T) {
	count := map[string]int{}
	for _, r := range records(t, "testdata/postgres.jsonl") {
		g, err := judged(t, &r, r.History)
		if err != nil {
			t.Fatalf("%s: %v", r.Note, err)
		}
		got := g.word()
		want, _, _ := strings.Cut(r.Note, ":")
		if got != want {
			t.Errorf("%s: %s (%s): expected %s, actual %s\n%s", r.Note, got, g.Unjudged, g.Expected, g.Actual, r.Case)
		}
		count[want]++
	}
	if count["ok"] < 300 || count["not-serializable"] < 9 {
		t.Errorf("only %v", count)
	}
}

// TestPostgresAltered lets servers lie in histories that were as promised. What is not noticed must be right at another
// moment, or not judged.
func TestPostgresAltered(t *testing.T) {
	lies := map[string]func(st *history.Stmt, kind stmt.Kind) bool{
		"a row of an answer is missing": func(st *history.Stmt, kind stmt.Kind) bool {
			if kind != stmt.Select || len(st.Result.Rows) == 0 {
				return false
			}
			st.Result.Rows = st.Result.Rows[1:]
			st.Result.Affected--
			return true
		},
		"one row more is counted": func(st *history.Stmt, kind stmt.Kind) bool {
			if !kind.Writes() || st.Result.Err != nil {
				return false
			}
			st.Result.Affected++
			return true
		},
		"an aborted transaction goes on": func(st *history.Stmt, kind stmt.Kind) bool {
			if e := st.Result.Err; e == nil || e.Code != errInFailed || kind != stmt.Select {
				return false
			}
			st.Result.Err, st.Result.Affected = nil, 0
			return true
		},
		"an error that has no cause": func(st *history.Stmt, kind stmt.Kind) bool {
			if kind != stmt.Select || st.Result.Err != nil || st.InTxn {
				return false
			}
			st.Result = history.Result{Matched: -1, Changed: -1, Affected: -1, Err: &history.Error{Code: 42703, State: "42703"}}
			return true
		},
	}
	for name, lie := range lies {
		told, noticed, open := 0, 0, 0
		for _, r := range records(t, "testdata/postgres.jsonl") {
			if !strings.HasPrefix(r.Note, "ok") {
				continue
			}
			c, err := corpus.Parse(r.Note, []byte(r.Case))
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.History.Stmts {
				h := r.copied(t)
				st := &h.Stmts[i]
				if !lie(st, stmt.KindOf(c.Steps[st.Line].Stmt)) {
					continue
				}
				told++
				switch g, err := judged(t, &r, h); {
				case errors.Is(err, errNotAsked) || err == nil && g.Unjudged != "":
					open++
				case err != nil:
					t.Fatal(err)
				case g.Broken:
					noticed++
				}
			}
		}
		t.Logf("%s: told %d times, noticed %d, not judged %d", name, told, noticed, open)
		if told < 20 || noticed*10 < (told-open)*8 || noticed*2 < told {
			t.Errorf("%s: told %d times, noticed %d, not judged %d", name, told, noticed, open)
		}
	}
}

// TestButForKeys holds histories without a serial order: those of PostgreSQL itself have one but for what it looks up by
// keys; those whose name begins with skew are of REPEATABLE READ, and have none without that either.
func TestButForKeys(t *testing.T) {
	known, others := 0, 0
	for _, r := range records(t, "testdata/postgres.jsonl") {
		name, broken := strings.CutPrefix(r.Note, NotSerializable+": ")
		if !broken {
			continue
		}
		g, err := judged(t, &r, r.History)
		if err != nil {
			t.Fatalf("%s: %v", r.Note, err)
		}
		if want := !strings.HasPrefix(name, "skew"); g.ButForKeys != want {
			t.Errorf("%s: but for keys is %t", name, g.ButForKeys)
		}
		if g.ButForKeys {
			known++
		} else {
			others++
		}
	}
	if known < 9 || others < 3 {
		t.Errorf("only %d and %d", known, others)
	}
}
