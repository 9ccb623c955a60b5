package oracle

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// What an account tells must fit the run that it is of: the promised final state
// is that of a run whose only difference is a read, some version is seen where
// a view is claimed, and the sentences name the deviation.
func TestAccountsOfRecordedRuns(t *testing.T) {
	told, viewed := 0, 0
	for _, file := range []string{"testdata/tidb-planted.jsonl", "testdata/published/innodb.jsonl"} {
		records, err := LoadRecords(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			c, err := corpus.Parse(filepath.Base(file), []byte(r.Case))
			if err != nil {
				t.Fatal(err)
			}
			v := Check(c, r.History)
			a := Tell(c, r.History, &v)
			if v.Outcome == OK {
				if a.Wrong >= 0 || len(a.Why) > 0 || len(a.Chains) > 0 {
					t.Errorf("an honest run is explained: %+v\n%s", a, r.Case)
				}
				for i, s := range a.Steps {
					if s.Differs {
						t.Errorf("an honest run differs in step %d: %+v\n%s", i, s, r.Case)
					}
				}
				continue
			}
			if v.Outcome != Known && v.Outcome != Violation {
				continue
			}
			told++
			writers := 0
			for _, x := range a.Chains {
				seen := 0
				for _, ver := range x.Versions {
					if ver.Stmt >= 0 {
						writers++
						if kind := a.Steps[ver.Stmt].Kind; kind != "UPDATE" && kind != "INSERT" && kind != "DELETE" {
							t.Errorf("a %s wrote %+v\n%s", kind, ver, r.Case)
						}
						if r.History.Stmts[ver.Stmt].Session != ver.Session {
							t.Errorf("%+v is of another session\n%s", ver, r.Case)
						}
					}
					if ver.Seen {
						seen++
					}
				}
				if seen > 1 {
					t.Errorf("a view sees %d versions of one row: %+v\n%s", seen, x, r.Case)
				}
				viewed += seen
			}
			if changesRows(a) && writers == 0 {
				t.Errorf("no version has a writer\n%s", r.Case)
			}
			text := strings.Join(a.Why, "\n")
			for _, rule := range v.Rules {
				if v.Outcome == Known && !strings.Contains(text, "Known as "+rule) {
					t.Errorf("no word of %s in\n%s", rule, text)
				}
			}
			if len(a.Why) == 0 || v.Outcome == Known && len(a.Links) == 0 {
				t.Errorf("nothing is explained\n%s", r.Case)
			}
		}
	}
	if told < 30 || viewed < 30 {
		t.Errorf("only %d runs were told of, with %d versions seen", told, viewed)
	}
}

// changesRows reports whether a statement before the wrong one changed rows.
func changesRows(a Account) bool {
	for i, s := range a.Steps {
		if (a.Wrong < 0 || i < a.Wrong) && s.Promised != nil && s.Promised.Err == 0 && s.Promised.Changed > 0 {
			return true
		}
	}
	return false
}

func TestCauses(t *testing.T) {
	v := Verdict{Outcome: Known, Rules: []string{"a", "b"}, Fingerprint: knownFingerprint("a+b", "RC")}
	if got := strings.Join(v.Causes(), " "); got != "known/a/RC known/b/RC" {
		t.Error(got)
	}
	for _, v := range []Verdict{{Outcome: Known, Rules: []string{"a"}, Fingerprint: "known/a/RC"}, {Outcome: Violation, Rules: []string{"a", "b"}}, {Outcome: OK}} {
		if v.Causes() != nil {
			t.Errorf("%+v has causes %v", v, v.Causes())
		}
	}
}

// TestAccountOfHonest: of a history that is as promised nothing is told to differ, also
// where its statements took other paths than the likeliest.
func TestAccountOfHonest(t *testing.T) {
	for _, file := range goldenFiles(t) {
		records, err := LoadRecords(file)
		if err != nil {
			t.Fatal(err)
		}
		honest := 0
		for i, r := range records {
			if r.Verdict.Outcome != OK {
				continue
			}
			c, err := corpus.Parse(filepath.Base(file), []byte(r.Case))
			if err != nil {
				t.Fatal(err)
			}
			honest++
			for _, s := range Tell(c, r.History, &r.Verdict).Steps {
				if s.Differs {
					t.Errorf("%s, record %d, statement %d: %s is told to differ from %s", file, i+1, s.Stmt+1, s.Actual, s.Expected)
				}
			}
		}
		t.Logf("%s: %d honest histories", file, honest)
	}
}

// TestTellLevel: the promise is that of the level that holds when the statement runs,
// not of the one with which the session began.
func TestTellLevel(t *testing.T) {
	records, err := LoadRecords("testdata/innodb-known.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[bool]int{} // by whether the statement writes
	for i := range records {
		r := &records[i]
		c, err := corpus.Parse("case", []byte(r.Case))
		if err != nil {
			t.Fatal(err)
		}
		a := Tell(c, r.History, &r.Verdict)
		if a.Wrong < 0 {
			continue
		}
		session := r.History.Stmts[a.Wrong].Session
		own, told := a.Level != r.History.Levels[session], strings.Contains(strings.Join(a.Why, "\n"), "since it has set its level")
		if own != told || a.Level == 0 || own && !strings.Contains(r.Case, "ISOLATION LEVEL") {
			t.Errorf("record %d: at %s, began at %s: %q", i+1, a.Level, r.History.Levels[session], a.Why)
		}
		if own {
			seen[a.Steps[a.Wrong].Kind.Writes()]++
		}
	}
	if seen[false] == 0 || seen[true] == 0 {
		t.Errorf("records with a level of their own whose wrong statement writes, and not: %d, %d", seen[true], seen[false])
	}
}
