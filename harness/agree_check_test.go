package harness

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Entries that wait for purge are a warning in front of OK; a corrupt index is not.
func TestVerdictOfCheck(t *testing.T) {
	row := func(kind, text string) []history.Cell {
		return []history.Cell{{Text: "d.t"}, {Text: "check"}, {Text: kind}, {Text: text}}
	}
	unpurged := row("Warning", "InnoDB: Clustered index record not found for index `k1`")
	for _, test := range []struct {
		rows [][]history.Cell
		want string
	}{
		{nil, ""},
		{[][]history.Cell{row("status", "OK")}, ""},
		{[][]history.Cell{unpurged, row("status", "OK")}, ""},
		{[][]history.Cell{unpurged, row("error", "Corrupt")}, "Warning: InnoDB: Clustered index record not found for index `k1`"},
		{[][]history.Cell{row("error", "Corrupt")}, "error: Corrupt"},
	} {
		if got := verdictOfCheck(test.rows); got != test.want {
			t.Errorf("%v: %q, want %q", test.rows, got, test.want)
		}
	}
}
