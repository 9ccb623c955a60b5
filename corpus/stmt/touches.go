package stmt

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"
)

// Touch sets what a statement reads, writes and locks, as its words tell it (as Words gives them). tables holds the
// names, in lower case, of the tables that there are. The table of an INSERT is not read, but where a conflict is.
func (r *RawStmt) Touch(words []string, tables map[string]bool) {
	is := func(at int, want ...string) bool {
		return at >= 0 && at+len(want) <= len(words) && slices.Equal(words[at:at+len(want)], want)
	}
	var reads, writes []string
	conflict := false
	for i, w := range words {
		switch {
		case is(i, "on", "conflict"):
			conflict = true
		case is(i, "for", "update"), is(i, "for", "no", "key", "update"), is(i, "do", "update"):
			r.Lock = Exclusive
		case is(i, "for", "share"), is(i, "for", "key", "share"):
			r.Lock = max(r.Lock, Share)
		}
		if !tables[w] {
			continue
		}
		at := i - 1
		if is(at, "only") {
			at--
		}
		into := is(at-1, "insert", "into")
		changed := is(at-1, "merge", "into") || is(at-1, "delete", "from") ||
			is(at, "update") && !is(at-1, "for") && !is(at-1, "key") && !is(at-1, "do")
		if into || changed {
			writes = append(writes, w)
		}
		if changed {
			r.Lock = Exclusive
		}
		if !into {
			reads = append(reads, w)
		}
	}
	if conflict {
		reads = append(reads, writes...)
	}
	r.Reads, r.Writes = tableNames(reads), tableNames(writes)
}

func tableNames(names []string) (out []*ast.TableName) {
	for i, n := range names {
		if !slices.Contains(names[:i], n) {
			out = append(out, &ast.TableName{Name: model.NewCIStr(n)})
		}
	}
	return out
}

// Assigns reports whether a statement of these words, in lower case, may give one of some columns a value by SET. Of SET
// (a, b) = … it says so of all.
func Assigns(words, columns []string) bool {
	set := slices.Index(words, "set")
	for i := set + 1; set >= 0 && i+1 < len(words); i++ {
		begins := words[i-1] == "set" || words[i-1] == ","
		if begins && (words[i] == "(" || words[i+1] == "=" && slices.Contains(columns, words[i])) {
			return true
		}
	}
	return false
}
