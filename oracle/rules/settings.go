package rules

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Settings returns, in order of their names, the settings that decide which rows
// of the table hold on servers of a family at some of the levels: a promise that
// was read off under one of their values need not hold under another. Rows that do
// not matter are left out.
func Settings(dbms history.DBMS, levels []corpus.Level, matters func(*Rule) bool) []string {
	var out []string
	for i := range Table {
		s := &Table[i].Scope
		if len(s.DBMS) > 0 && !slices.Contains(s.DBMS, dbms) {
			continue
		}
		if len(s.Levels) > 0 && !slices.ContainsFunc(levels, func(l corpus.Level) bool { return slices.Contains(s.Levels, l) }) {
			continue
		}
		if len(s.Settings) == 0 || !matters(&Table[i]) {
			continue
		}
		for name := range s.Settings {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
