package oracle

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// BenchmarkCheck judges recorded histories: time and allocations for one case.
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
		b.Run(file, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				Check(cases[i%len(cases)], records[i%len(records)].History)
			}
		})
	}
}
