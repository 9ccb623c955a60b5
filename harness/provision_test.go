package harness

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestRefilledAlike: only where rows take the places that are free their order says nothing.
func TestRefilledAlike(t *testing.T) {
	of := func(values ...string) []history.Table {
		table := history.Table{Name: "t", Columns: []string{"a"}}
		for _, v := range values {
			table.Rows = append(table.Rows, []history.Cell{{Text: v}})
		}
		return []history.Table{table}
	}
	for _, x := range []struct {
		in    *speech
		a, b  []history.Table
		alike bool
	}{
		{&mysqlSpeech, of("1", "2"), of("1", "2"), true},
		{&mysqlSpeech, of("1", "2"), of("2", "1"), false},
		{&postgresSpeech, of("1", "2"), of("2", "1"), true},
		{&postgresSpeech, of("1", "2"), of("2", "2"), false},
		{&postgresSpeech, of("1"), nil, false},
	} {
		if x.in.refilledAlike(x.a, x.b) != x.alike {
			t.Errorf("%v and %v: %v", x.a, x.b, !x.alike)
		}
	}
}
