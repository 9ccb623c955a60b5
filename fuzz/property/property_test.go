package property

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const recorded = "../../oracle/testdata"

func FuzzBlocks(f *testing.F) {
	f.Add([]byte("CREATE TABLE t (a INT)\n\nRC\nBEGIN\nSELECT * FROM t -- x\nCOMMIT\n\nRR\nBEGIN;\nROLLBACK\n\n1-2-1-2-1\nEND\nnote\nCREATE TABLE u (a INT);\n\nSELECT ';'\n\n1-1\n"))
	f.Add([]byte("CREATE TABLE t (a INT)\n\nBEGIN\nCOMMIT\n\nBEGIN\nCOMMIT\n\n1-2-1-2\nEND\n"))
	f.Fuzz(func(t *testing.T, text []byte) { check(t, Blocks(text)) })
}

func FuzzPartition(f *testing.F) {
	f.Add([]byte(nil))
	for seed := range uint64(40) {
		f.Add(mutate.InputOf(seed*16, mutate.InputLen))
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, Partition(data)) })
}

func FuzzHonest(f *testing.F) {
	h, err := LoadHonest(recorded)
	if err != nil {
		f.Fatal(err)
	}
	for i := range h.Len() {
		f.Add([]byte{byte(i), byte(i >> 8), 3, byte(7 * i), byte(13 * i), byte(i), 1, 2, byte(5 * i)})
	}
	f.Fuzz(func(t *testing.T, data []byte) { check(t, h.Judge(data)) })
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Parse and Generate have their native targets, which look deeper, in corpus and
// mutate; libFuzzer runs these.
func TestParseAndGenerate(t *testing.T) {
	files, err := filepath.Glob("../../corpus/known/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no published cases (%v)", err)
	}
	for _, file := range files {
		c, err := corpus.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		text := corpus.Print(c, corpus.Text)
		check(t, Parse(text))
		check(t, Parse(text[:len(text)*2/3]))
	}
	for seed := range uint64(50) {
		check(t, Generate(mutate.InputOf(seed, mutate.InputLen)))
	}
}

func TestPartitionJudges(t *testing.T) {
	const tables = "/* init */ CREATE TABLE t (a INT, b BINARY(2));\n/* init */ INSERT INTO t VALUES (1, 'aa'), (NULL, 'ab');\n"
	for _, tc := range []struct {
		where  string
		dbms   history.DBMS
		judged int
	}{
		{"a = 1", history.MySQL, 2},
		{"a = 1 OR a IS NULL", history.MariaDB, 2},
		{"b >= '10' AND b = 'aa'", history.MariaDB, 2},
		// A text that is no number fails in a strict write only.
		{"b >= 10 AND b = 'aa'", history.MySQL, 2},
		{"b >= 10 AND b = 'aa'", history.MariaDB, 2},
		// Whether the product fails for 2 depends on where the server puts 2 for a, which
		// it does in p but not in NOT p.
		{"a * 4611686018427387904 > 0 AND a = 2", history.MySQL, 0},
		{"a * 4611686018427387904 > 0 AND a = 2", history.MariaDB, 0},
	} {
		c, err := corpus.Parse("case", []byte(tables+"/* tx1 */ SELECT * FROM t WHERE "+tc.where+";\n"))
		if err != nil {
			t.Fatal(err)
		}
		judged, err := PartitionOf(c, tc.dbms)
		if err != nil || judged != tc.judged {
			t.Errorf("%s, %s: %d rows judged, want %d (%v)", tc.dbms, tc.where, judged, tc.judged, err)
		}
	}
}

// A verdict that is not the recorded one is noticed.
func TestHonestNoticesAnotherVerdict(t *testing.T) {
	h, err := LoadHonest(recorded)
	if err != nil {
		t.Fatal(err)
	}
	h.records = h.records[:1]
	check(t, h.Judge(nil))
	h.records[0].Verdict.Outcome = oracle.Violation
	if err := h.Judge(nil); err == nil || !strings.Contains(err.Error(), "depends on the gaps") {
		t.Errorf("got %v", err)
	}
}

func TestLoadHonestWantsRecords(t *testing.T) {
	if _, err := LoadHonest(t.TempDir()); err == nil {
		t.Error("an empty folder was taken")
	}
}
