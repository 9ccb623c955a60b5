package oracle

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// BenchmarkCheck judges recorded histories by the rules and by all judges: time and
// allocations for one case.
func BenchmarkCheck(b *testing.B) {
	for _, file := range []string{"testdata/tidb-honest.jsonl", "testdata/tidb-known.jsonl", "testdata/innodb-honest.jsonl", "testdata/innodb-known.jsonl"} {
		records, err := LoadRecords(file)
		if err != nil {
			b.Fatal(err)
		}
		cases := make([]*corpus.Case, len(records))
		for i := range records {
			if cases[i], err = corpus.Parse(file, []byte(records[i].Case)); err != nil {
				b.Fatal(err)
			}
		}
		for name, judge := range map[string]func(*corpus.Case, *history.History) Verdict{
			"rules": Check, "all": func(c *corpus.Case, h *history.History) Verdict { return Judge(c, h, false) },
		} {
			b.Run(file+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					judge(cases[i%len(cases)], records[i%len(records)].History)
				}
			})
		}
	}
}
