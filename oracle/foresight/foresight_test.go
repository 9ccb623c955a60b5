package foresight

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
)

func parse(t *testing.T, text string) *corpus.Case {
	t.Helper()
	c, err := corpus.Parse(t.Name(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRecorded foresees recorded cases as they are: the schedule, the waits and
// the answers have to come out such that the deviation shows again.
func TestRecorded(t *testing.T) {
	for _, file := range []string{"../testdata/tidb-known.jsonl", "../testdata/innodb-known.jsonl"} {
		records, err := oracle.LoadRecords(file)
		if err != nil {
			t.Fatal(err)
		}
		foreseen, asked := 0, 0
		for i := range records {
			if v := &records[i].Verdict; v.Outcome != oracle.Known || v.Stmt < 0 {
				continue
			}
			asked++
			c := parse(t, records[i].Case)
			if s := New(c, records[i].History, &records[i].Verdict); s != nil && s.Guess(c, records[i].History.Levels) == Shows {
				foreseen++
			}
		}
		// Some rest on lock waits, on a scan in place of look-ups, or on a plan, that the
		// schedule does not tell.
		if asked == 0 || foreseen*10 < asked*8 {
			t.Errorf("%s: %d of %d records foreseen", file, foreseen, asked)
		}
		t.Logf("%s: %d of %d", file, foreseen, asked)
	}
}

const noOp = `
/* init */ CREATE TABLE t (a INT, b INT);
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE t SET a = 1;
/* tx2 */ UPDATE t SET b = 7;
/* tx2 */ COMMIT;
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ SELECT a FROM t;
/* tx1 */ COMMIT;
`

// TestVariants changes a case whose run is recorded; the answers of the variants
// were never seen and are computed.
func TestVariants(t *testing.T) {
	base := parse(t, noOp)
	r, err := oracle.LoadRecords("testdata/no-op.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if r[0].Verdict.Outcome != oracle.Known {
		t.Fatalf("the record's verdict is %s", r[0].Verdict.Outcome)
	}
	s := New(base, r[0].History, &r[0].Verdict)
	for _, tt := range []struct {
		name, text string
		want       Guess
	}{
		{"less lines", `
/* init */ CREATE TABLE t (a INT, b INT);
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET a = 1;
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ SELECT a FROM t;
`, Shows},
		{"other rows and constants", `
/* init */ CREATE TABLE t (a INT, b INT);
/* init */ INSERT INTO t VALUES (5, 0), (NULL, 1);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET a = 9;
/* tx1 */ UPDATE t SET a = 9;
/* tx1 */ SELECT a FROM t;
`, Shows},
		{"an update that changes something", `
/* init */ CREATE TABLE t (a INT, b INT);
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET a = 1;
/* tx1 */ UPDATE t SET a = 2;
/* tx1 */ SELECT a FROM t;
`, Hides},
		{"without the other writer", `
/* init */ CREATE TABLE t (a INT, b INT);
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ SELECT a FROM t;
`, Hides},
		{"one after the other", `
/* init */ CREATE TABLE t (a INT, b INT);
/* init */ INSERT INTO t VALUES (0, 0);
/* tx2 */ UPDATE t SET a = 1;
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ SELECT a FROM t;
`, Hides},
		{"a set-up that the solver does not know", `
/* init */ CREATE TABLE t (a INT, b INT) PARTITION BY HASH (a) PARTITIONS 2;
/* init */ INSERT INTO t VALUES (0, 0);
/* tx1 */ BEGIN;
/* tx1 */ SELECT * FROM t;
/* tx2 */ UPDATE t SET a = 1;
/* tx1 */ UPDATE t SET a = 1;
/* tx1 */ SELECT a FROM t;
`, Open},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := parse(t, tt.text)
			levels := map[int]corpus.Level{}
			for _, n := range c.Sessions() {
				levels[n] = corpus.RepeatableRead
			}
			if got := s.Guess(c, levels); got != tt.want {
				t.Errorf("guess %d, want %d", got, tt.want)
			}
		})
	}
}
