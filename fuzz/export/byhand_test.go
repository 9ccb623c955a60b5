package export

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// withPast shows its deviations only as long as the deleted row (5, 3) is not
// purged: the INSERT of tx1 then takes its place, and meets no lock of a gap.
const withPast = `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (0, 2), (1, 3), (3, 3), (5, 3);
/* init */ DELETE FROM t;
/* init */ INSERT INTO t VALUES (1, 1);
/* init */ INSERT INTO t VALUES (2, 2);
/* tx1 */ BEGIN;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t WHERE a & 2;
/* tx1 */ SELECT * FROM t LOCK IN SHARE MODE;
/* tx1 */ UPDATE t SET a = 3 WHERE b = 2;
/* tx2 */ SELECT * FROM t WHERE b = 2 ORDER BY a DESC FOR UPDATE;
/* tx2 */ UPDATE t SET b = 3;
/* tx1 */ INSERT INTO t VALUES (5, 3);
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
`

// mysql-test-run starts MariaDB with other defaults than the vendor's, two of which
// decide what a table is; and it starts MariaDB without InnoDB.
func TestMTRSetsWhatMysqlTestRunChanges(t *testing.T) {
	c, err := corpus.Parse("open end", []byte(openEnd))
	if err != nil {
		t.Fatal(err)
	}
	b := backend(t)
	tl := record(t, b, target, "open end", c, corpus.RepeatableRead)
	if tl.Verdict.Outcome != oracle.Known {
		t.Fatalf("the case shows nothing: %s", tl.Verdict.Outcome)
	}
	files, err := Write(tl, "mtr", Test)
	if err != nil {
		t.Fatal(err)
	}
	if opt := string(files.Beside["-master.opt"]); !strings.HasPrefix(opt, "--innodb\n") {
		t.Errorf("the options do not turn InnoDB on: %q", opt)
	}
	execute(t, b, "SET GLOBAL default_storage_engine = MyISAM")
	execute(t, b, "SET GLOBAL character_set_server = latin1")
	for as, want := range map[As]string{Test: fails, Demo: passes} {
		if got, out := actOut(t, b, tl, "mtr", as, b.Config().Addr); got != want {
			t.Errorf("as %s it %s, want that it %s:\n%s", as, got, want, out)
		}
	}
}

// A reader pastes a line now and then. What the set-up has deleted must be there
// still, and a session that waits meanwhile must not reach the lock wait time-out.
func TestByHandPaceDoesNotMatter(t *testing.T) {
	b := backend(t)
	c, err := corpus.Parse("past", []byte(withPast))
	if err != nil {
		t.Fatal(err)
	}
	tl := record(t, b, target, "past", c, corpus.RepeatableRead)
	if tl.Verdict.Outcome != oracle.Known {
		t.Fatalf("the case shows nothing: %s", tl.Verdict.Outcome)
	}
	files, err := Write(tl, "two-terminals", Test)
	if err != nil {
		t.Fatal(err)
	}
	text := string(files.Text)
	if want := "SET SESSION innodb_lock_wait_timeout = 3600; -- tx2"; !strings.Contains(text, want) || strings.Count(text, "3600") != 1 {
		t.Errorf("only the session that waits is to have %q:\n%s", want, text)
	}
	paste(t, b.Config().Addr, tl, text, 2*time.Second) // purge takes less

	// Steps are numbered as they are sent, although tx2's come late in the case.
	report, err := Write(tl, "markdown", Test)
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, m := range regexp.MustCompile(`(?m)^\| ([0-9]+) \|`).FindAllStringSubmatch(string(report.Text), -1) {
		n, _ := strconv.Atoi(m[1])
		if n > last+1 {
			t.Errorf("step %d follows step %d:\n%s", n, last, report.Text)
		}
		last = max(last, n)
	}
	if want := "In step 10 tx2 should get (1,3) (5,3) (3,3)"; last != len(c.Steps) || !strings.Contains(string(report.Text), want) {
		t.Errorf("%d steps, want %d; want %q:\n%s", last, len(c.Steps), want, report.Text)
	}

	// In each form the view is open before the set-up deletes anything.
	for _, format := range []string{"two-terminals", "markdown", "jira", "mtr", "go"} {
		files, err := Write(tl, format, Test)
		if err != nil {
			t.Fatal(err)
		}
		text := string(files.Text)
		view, deletes := strings.Index(text, "START TRANSACTION WITH CONSISTENT SNAPSHOT"), strings.Index(text, "DELETE FROM t")
		if format == "go" {
			deletes = strings.Index(text, "range setup")
		}
		if view < 0 || view > deletes {
			t.Errorf("%s: no view is open before the set-up deletes:\n%s", format, text)
		}
	}
}
