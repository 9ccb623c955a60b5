package report

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// cell is a value of a compared row; Differs marks it.
type cell struct {
	Text    string
	Differs bool
}

// pair is a row that was expected beside the one that came for it. One of them
// is nil where the other has no partner.
type pair struct {
	Expected, Actual []cell
}

// compareRows pairs expected rows with actual ones: equal rows first, then the
// rows that have most cells in common, in order. In order means as returned;
// else rows are bags. Costs n² for n rows, of which there are few.
func compareRows(expected, actual [][]history.Cell, ordered bool) []pair {
	partner := make([]int, len(expected))
	taken := make([]bool, len(actual))
	for i := range partner {
		partner[i] = -1
	}
	if ordered {
		for i := range min(len(expected), len(actual)) {
			partner[i], taken[i] = i, true
		}
	} else {
		width := 0
		for _, r := range expected {
			width = max(width, len(r))
		}
		for common := width; common >= 0; common-- {
			for i := range expected {
				for j := range actual {
					if partner[i] < 0 && !taken[j] && inCommon(expected[i], actual[j]) == common {
						partner[i], taken[j] = j, true
					}
				}
			}
		}
	}
	var out []pair
	for i, row := range expected {
		if j := partner[i]; j >= 0 {
			out = append(out, pair{cells(row, actual[j]), cells(actual[j], row)})
		} else {
			out = append(out, pair{Expected: cells(row, nil)})
		}
	}
	for j, row := range actual {
		if !taken[j] {
			out = append(out, pair{Actual: cells(row, nil)})
		}
	}
	return out
}

func inCommon(a, b []history.Cell) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i].Key() == b[i].Key() {
			n++
		}
	}
	return n
}

func cells(row, other []history.Cell) []cell {
	out := make([]cell, len(row))
	for i, c := range row {
		out[i] = cell{shorten(c.String()), i >= len(other) || other[i].Key() != c.Key()}
	}
	return out
}

// wrongFinal returns the first table whose content is not what was promised.
func wrongFinal(final, promised []history.Table) (int, bool) {
	for i := range final {
		if i < len(promised) && slices.ContainsFunc(compareRows(promised[i].Rows, final[i].Rows, false), pair.differs) {
			return i, true
		}
	}
	return 0, false
}

func (p pair) differs() bool {
	return p.Expected == nil || p.Actual == nil || slices.ContainsFunc(p.Expected, func(c cell) bool { return c.Differs })
}
