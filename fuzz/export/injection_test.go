package export

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestInjectionPoint holds how a specification arms the point, lets others pass it, and wakes who waits there.
func TestInjectionPoint(t *testing.T) {
	run := heldRun(t)
	refused := func(what, want string) {
		t.Helper()
		if _, err := Write(timeline.Of(run), "injection-point", Test); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of %s: %v", what, err)
		}
	}
	refused("MariaDB", "--format gdb")
	h := *run.History
	h.Server.DBMS = history.PostgreSQL
	run.History = &h
	refused("a program without symbols", "no symbols")
	c := run.Case.Clone()
	i, _ := c.Held()
	at := *c.Steps[i].Hold
	at.Function, at.Offset, at.Hit = "GetSnapshotData", 0, 2
	c.Steps[i].Hold = &at
	run.Case = c
	f, err := Write(timeline.Of(run), "injection-point", Test)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"at the beginning of GetSnapshotData()", `INJECTION_POINT("txnfuzz-hold", NULL);`,
		"DROP EXTENSION injection_points; }",
		"session point\nstep arm\t{ SELECT injection_points_attach('txnfuzz-hold', 'wait'); }\nstep wakeup",
		fmt.Sprintf(" arm s%d_%d wakeup disarm ", c.Steps[i].Session, i+1),
	} {
		if !strings.Contains(string(f.Text), want) {
			t.Errorf("the specification does not hold %q:\n%s", want, f.Text)
		}
	}
	if n := strings.Count(string(f.Text), " wakeup"); n != 2+1 { // once for each execution, and the step itself
		t.Errorf("%d wakeups:\n%s", n, f.Text)
	}
	at.Offset = 0x10
	const where = "info line *(&GetSnapshotData+0x10)"
	if f, err = Write(timeline.Of(run), "injection-point", Test); err != nil || !strings.Contains(string(f.Text), where) {
		t.Errorf("%v:\n%s", err, f.Text)
	}
}

// TestArmsItself: a session can arm a point for itself, but not where that would take the transaction's snapshot.
func TestArmsItself(t *testing.T) {
	const text = `-- level: SERIALIZABLE

/* init */ CREATE TABLE t (a INT PRIMARY KEY);
/* tx2 */ INSERT INTO t VALUES (1);
/* tx1 */ SELECT * FROM t;
/* tx1 */ BEGIN;
/* tx2 */ INSERT INTO t VALUES (2);
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
/* tx1 */ SELECT * FROM t;
/* tx1 */ START TRANSACTION WITH CONSISTENT SNAPSHOT;
/* tx1 */ SELECT * FROM t;
`
	c, err := corpus.Parse("arms.sql", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var able []int
	for i := range c.Steps {
		if armsItself(c, i) {
			able = append(able, i)
		}
	}
	if len(able) != 2 || able[0] != 5 || able[1] != 8 {
		t.Errorf("steps %v, want that of the COMMIT and that behind the snapshot", able)
	}
}
