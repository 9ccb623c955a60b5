package rowversions

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// told makes a history of lines
//
//	submit-return answer versions /* tx1 */ statement
//
// in which an answer is ok, open where a transaction is open behind it, or the SQLSTATE of an error. A version is a@1, a of
// transaction 1: a@1 was found, >b@2 made, a@1>b@2 replaced.
func told(t *testing.T, level corpus.Level, text string) (*corpus.Case, *history.History) {
	t.Helper()
	sql := "-- row-versions: told\n/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n"
	h := &history.History{Levels: map[int]corpus.Level{}}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		head, rest, _ := strings.Cut(line, "/*")
		sql += "/*" + rest + ";\n"
		words := strings.Fields(head)
		st := history.Stmt{Line: i}
		if _, err := fmt.Sscanf(words[0], "%d-%d", &st.Submit, &st.Return); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		switch words[1] {
		case "ok":
		case "open":
			st.Result.InTxn = true
		default:
			st.Result.Err = &history.Error{State: words[1]}
		}
		for _, w := range words[2:] {
			found, made, _ := strings.Cut(w, ">")
			st.Versions = append(st.Versions, history.RowVersion{Found: version(found), Made: version(made)})
		}
		h.Stmts = append(h.Stmts, st)
	}
	c, err := corpus.Parse("case", []byte(sql))
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range c.Steps {
		h.Stmts[i].Session, h.Levels[l.Session] = l.Session, level
	}
	return c, h
}

func version(word string) string {
	if word == "" {
		return ""
	}
	return "t " + strings.Replace(word, "@", " ", 1)
}

const (
	rc  = corpus.ReadCommitted
	rr  = corpus.RepeatableRead
	ser = corpus.Serializable
)

// TestCheck judges histories by hand: the kind of the difference and the line that has it, "" for none.
func TestCheck(t *testing.T) {
	for name, of := range map[string]struct {
		level corpus.Level
		text  string
		want  string
	}{
		"read committed sees a commit": {rc, `
1-2 open /* tx1 */ BEGIN
3-4 open a@1 /* tx1 */ SELECT * FROM t
5-6 ok a@1>b@2 /* tx2 */ UPDATE t SET b = 1
7-8 open b@2 /* tx1 */ SELECT * FROM t
9-10 ok /* tx1 */ COMMIT`, ""},
		"the same snapshot does not": {rr, `
1-2 open /* tx1 */ BEGIN
3-4 open a@1 /* tx1 */ SELECT * FROM t
5-6 ok a@1>b@2 /* tx2 */ UPDATE t SET b = 1
7-8 open b@2 /* tx1 */ SELECT * FROM t
9-10 ok /* tx1 */ COMMIT`, "non-repeatable-read 4"},
		"but shows what it showed": {rr, `
1-2 open /* tx1 */ BEGIN
3-4 open a@1 /* tx1 */ SELECT * FROM t
5-6 ok a@1>b@2 /* tx2 */ UPDATE t SET b = 1
7-8 open a@1 /* tx1 */ SELECT * FROM t
9-10 ok /* tx1 */ COMMIT`, ""},
		"a snapshot is that of the first query, not of BEGIN": {rr, `
1-2 open /* tx1 */ BEGIN
3-4 ok a@1>b@2 /* tx2 */ UPDATE t SET b = 1
5-6 open b@2 /* tx1 */ SELECT * FROM t
7-8 ok /* tx1 */ COMMIT`, ""},
		"which shows what was committed before": {rr, `
1-2 open /* tx1 */ BEGIN
3-4 ok a@1>b@2 /* tx2 */ UPDATE t SET b = 1
5-6 open a@1 /* tx1 */ SELECT * FROM t
7-8 ok /* tx1 */ COMMIT`, "stale-read 3"},
		"or may, if the COMMIT was not answered yet": {rr, `
1-2 open /* tx1 */ BEGIN
3-6 ok a@1>b@2 /* tx2 */ UPDATE t SET b = 1
5-7 open a@1 /* tx1 */ SELECT * FROM t
8-9 ok /* tx1 */ COMMIT`, ""},
		"a read committed SELECT misses a commit": {rc, `
1-2 ok a@1>b@2 /* tx2 */ UPDATE t SET b = 1
3-4 ok a@1 /* tx1 */ SELECT * FROM t`, "stale-read 2"},
		"so does a locking one": {rc, `
1-2 ok a@1>b@2 /* tx2 */ UPDATE t SET b = 1
3-4 ok a@1 /* tx1 */ SELECT * FROM t FOR UPDATE`, "stale-read 2"},
		"and an UPDATE": {rc, `
1-2 ok a@1>b@2 /* tx2 */ UPDATE t SET b = 1
3-4 ok a@1>c@3 /* tx1 */ UPDATE t SET b = 1`, "stale-read 2"},
		"what is not committed is read": {rc, `
1-2 open /* tx1 */ BEGIN
3-4 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
5-6 ok b@2 /* tx2 */ SELECT * FROM t
7-8 ok /* tx1 */ COMMIT`, "dirty-read 3"},
		"what is rolled back is read behind that": {rc, `
1-2 open /* tx1 */ BEGIN
3-4 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
5-6 ok /* tx1 */ ROLLBACK
7-8 ok b@2 /* tx2 */ SELECT * FROM t`, "dirty-read 4"},
		"a transaction reads its own": {rr, `
1-2 open /* tx1 */ BEGIN
3-4 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
5-6 open b@2 /* tx1 */ SELECT * FROM t
7-8 ok /* tx1 */ ROLLBACK`, ""},
		"and not what it has replaced": {rr, `
1-2 open /* tx1 */ BEGIN
3-4 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
5-6 open a@1 /* tx1 */ SELECT * FROM t
7-8 ok /* tx1 */ ROLLBACK`, "lost-own-write 3"},
		"until it goes back": {rr, `
1-2 open /* tx1 */ BEGIN
3-4 open /* tx1 */ SAVEPOINT s
5-6 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
7-8 open /* tx1 */ ROLLBACK TO s
9-10 open a@1 /* tx1 */ SELECT * FROM t
11-12 ok /* tx1 */ COMMIT`, ""},
		"when its own is gone": {rr, `
1-2 open /* tx1 */ BEGIN
3-4 open /* tx1 */ SAVEPOINT s
5-6 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
7-8 open /* tx1 */ ROLLBACK TO s
9-10 open b@2 /* tx1 */ SELECT * FROM t
11-12 ok /* tx1 */ COMMIT`, "kept-rollback 5"},
		"an error undoes what is behind the savepoint": {rc, `
1-2 open /* tx1 */ BEGIN
3-4 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
5-6 open /* tx1 */ SAVEPOINT s
7-8 open b@2>c@3 /* tx1 */ UPDATE t SET b = 1
9-10 23505 /* tx1 */ INSERT INTO t VALUES (1, 1)
11-12 open /* tx1 */ ROLLBACK TO s
13-14 open b@2 /* tx1 */ SELECT * FROM t
15-16 ok /* tx1 */ COMMIT
17-18 ok b@2 /* tx2 */ SELECT * FROM t`, ""},
		"a released savepoint is the transaction's": {rc, `
1-2 open /* tx1 */ BEGIN
3-4 open /* tx1 */ SAVEPOINT s
5-6 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
7-8 open /* tx1 */ RELEASE SAVEPOINT s
9-10 open /* tx1 */ SAVEPOINT s
11-12 open /* tx1 */ ROLLBACK TO s
13-14 ok /* tx1 */ COMMIT
15-16 ok b@2 /* tx2 */ SELECT * FROM t`, ""},
		"a COMMIT of what has failed commits nothing": {rc, `
1-2 open /* tx1 */ BEGIN
3-4 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
5-6 22012 /* tx1 */ SELECT 1 / 0 FROM t
7-8 ok /* tx1 */ COMMIT
9-10 ok b@2 /* tx2 */ SELECT * FROM t`, "dirty-read 5"},
		"two replace one version": {rc, `
1-2 open /* tx1 */ BEGIN
3-4 open /* tx2 */ BEGIN
5-6 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
7-8 open a@1>c@3 /* tx2 */ UPDATE t SET b = 1
9-10 ok /* tx1 */ COMMIT
11-12 ok /* tx2 */ COMMIT`, "lost-update 4"},
		"one of which is rolled back": {rc, `
1-2 open /* tx1 */ BEGIN
3-4 open /* tx2 */ BEGIN
5-6 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
7-10 open a@1>c@3 /* tx2 */ UPDATE t SET b = 1
8-9 ok /* tx1 */ ROLLBACK
11-12 ok /* tx2 */ COMMIT`, ""},
		"torn within a statement": {rc, `
1-12 ok d@4 b@2 /* tx1 */ SELECT * FROM t
2-3 ok >b@2 /* tx2 */ INSERT INTO t VALUES (1, 1)
4-5 ok b@2>c@3 /* tx2 */ UPDATE t SET b = 1
6-7 ok x@1>d@4 /* tx2 */ UPDATE t SET b = 1`, "torn-snapshot 1"},
		"a version before it is made": {rc, `
1-2 open /* tx1 */ BEGIN
3-4 open b@2 /* tx1 */ SELECT * FROM t
5-6 open a@1>b@2 /* tx1 */ UPDATE t SET b = 1
7-8 ok /* tx1 */ COMMIT`, "wrong-rows 2"},
		"a level is set on the way": {rr, `
1-2 open /* tx1 */ BEGIN
3-4 open a@1 /* tx1 */ SELECT * FROM t
5-6 ok a@1>b@2 /* tx2 */ UPDATE t SET b = 1
7-8 open b@2 /* tx1 */ SELECT * FROM t
9-10 ok /* tx1 */ COMMIT
11-12 ok /* tx1 */ SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED`, ""},
		"AND CHAIN begins another": {rr, `
1-2 open /* tx1 */ BEGIN
3-4 open a@1 /* tx1 */ SELECT * FROM t
5-6 ok a@1>b@2 /* tx2 */ UPDATE t SET b = 1
7-8 open /* tx1 */ COMMIT AND CHAIN
9-10 open b@2 /* tx1 */ SELECT * FROM t
11-12 ok /* tx1 */ COMMIT`, ""},
	} {
		c, h := told(t, of.level, of.text)
		if got := word(Check(c, h)); got != of.want {
			t.Errorf("%s: %q, want %q", name, got, of.want)
		}
	}
}

func word(d *history.Difference) string {
	if d == nil {
		return ""
	}
	return fmt.Sprint(d.Kind, " ", d.Stmt+1)
}

const writeSkew = `
1-2 open /* tx1 */ BEGIN
3-4 open /* tx2 */ BEGIN
5-6 open a@1 /* tx1 */ SELECT * FROM t WHERE a = 1
7-8 open b@1 /* tx2 */ SELECT * FROM t WHERE a = 2
9-10 open b@1>c@2 /* tx1 */ UPDATE t SET b = 1 WHERE a = 2
11-12 open a@1>d@3 /* tx2 */ UPDATE t SET b = 1 WHERE a = 1
13-14 ok /* tx1 */ COMMIT
15-16 ok /* tx2 */ COMMIT`

// TestCycle judges transactions that depend on each other.
func TestCycle(t *testing.T) {
	for name, of := range map[string]struct {
		level      corpus.Level
		text, want string
	}{
		"write skew":               {ser, writeSkew, "not-serializable 6"},
		"at repeatable read":       {rr, writeSkew, ""},
		"one rolls back":           {ser, strings.Replace(writeSkew, "15-16 ok /* tx2 */ COMMIT", "15-16 ok /* tx2 */ ROLLBACK", 1), ""},
		"one fails":                {ser, strings.Replace(writeSkew, "15-16 ok /* tx2 */ COMMIT", "15-16 40001 /* tx2 */ COMMIT", 1), ""},
		"one reads what it writes": {ser, strings.Replace(writeSkew, "a@1 /* tx1", "b@1 /* tx1", 1), ""},
	} {
		c, h := told(t, of.level, of.text)
		if d := Check(c, h); d != nil {
			t.Errorf("%s: %+v", name, d)
		}
		if got := word(Cycle(c, h)); got != of.want {
			t.Errorf("%s: %q, want %q", name, got, of.want)
		}
	}
}
