package findings

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
)

// A reduced case tells of itself only: what its header says of the larger one,
// on whatever target, is gone, and where that came from stays.
func TestReducedHeader(t *testing.T) {
	on := targettest.Any(t)
	// MDEV-27992 on MariaDB and MySQL, TiDB#33315 on TiDB, with a line too many.
	file, level := "maria-27992.sql", "READ COMMITTED"
	if on.Name == target.Default {
		file, level = "tidb-33315.sql", "REPEATABLE READ"
	}
	c, err := corpus.Load(fromRoot(KnownDir + "/" + file))
	if err != nil {
		t.Fatal(err)
	}
	c.Set("level", level)
	c.Set("expected (RC)", "(77)")
	c.Set("stmt", "step 99")
	c.Set("vendor defaults", "shows, too")
	c.Steps = append(c.Steps, targettest.Case(t, "/* tx3 */ SELECT 1 FROM t;").Steps...)
	source, _ := c.Get("source")
	result, err := Reduce(t.Context(), on, c, Reducing{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	text := string(corpus.Print(result.Case, corpus.Text))
	if cells := RecordedCells(result.Case); len(cells) != 1 || cells[0].Target != HeaderTarget(on.Name) {
		t.Errorf("verdicts of %v in\n%s", cells, text)
	}
	for _, gone := range []string{"(77)", "step 99", "vendor defaults", "observe"} {
		if strings.Contains(text, gone) {
			t.Errorf("%q in\n%s", gone, text)
		}
	}
	if got, _ := result.Case.Get("source"); got != source {
		t.Errorf("source %q, want %q", got, source)
	}
	for _, d := range corpus.CheckHeader("reduced.sql", []byte(text)) {
		t.Errorf("%v in\n%s", d, text)
	}
	again, err := Reduce(t.Context(), on, withCell(result.Case, "mysql 0.1", level), Reducing{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if corpus.ID(again.Case) == corpus.ID(result.Case) && len(RecordedCells(again.Case)) != 2 {
		t.Errorf("the same statements have lost a record:\n%s", corpus.Print(again.Case, corpus.Text))
	}
}

// withCell returns a case that records the verdict ok on one more target.
func withCell(c *corpus.Case, target, level string) *corpus.Case {
	c = c.Clone()
	l, _ := corpus.ParseLevel(level)
	c.Set(verdictKey(target, l.Short()), "ok")
	return c
}
