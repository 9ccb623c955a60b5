package mutate

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Entries with statements that the parser does not read are mutated around these.
func TestRawStatementsSurviveEdits(t *testing.T) {
	const raw = "/* raw reads=t writes=t locks=exclusive */ DELETE FROM t WHERE a = 1 RETURNING a"
	const text = `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 1), (2, 2);
/* tx1 */ BEGIN;
/* tx1 */ SELECT a FROM t WHERE b = 1;
/* tx1 */ ` + raw + `;
/* tx1 */ COMMIT;
/* tx2 */ BEGIN;
/* tx2 */ /* raw reads=t */ SELECT t.a FROM t, LATERAL (SELECT 1) AS x;
/* tx2 */ UPDATE t SET b = 3 WHERE a = 1;
/* tx2 */ COMMIT;
`
	entry, err := corpus.Parse("raw", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	before := print(entry)
	o := Options{Levels: corpus.Levels}.withDefaults()
	e := &editing{others: []*corpus.Case{entry, Generate(NewSeeded(1), *o)}, options: o}
	kept := 0
	for name, edit := range namedEdits {
		for n := range uint64(40) {
			r := splitMix(n)
			d := draftOf(entry)
			edit(random(&r), d, e)
			for _, conflict := range []Conflict{FSF, PSF, CTC} {
				with := *o
				with.Conflict = conflict
				d.construct(random(&r), &with, -1)
			}
			after := d.build(serialOrder(d))
			if err := after.Validate(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, l := range after.Steps {
				if stmt.KindOf(l.Stmt) == stmt.Raw && corpus.SQL(l.Stmt, corpus.Text) == raw {
					kept++
				}
			}
		}
	}
	if kept == 0 || print(entry) != before {
		t.Errorf("%d raw statements kept, the entry is now\n%s", kept, print(entry))
	}
}
