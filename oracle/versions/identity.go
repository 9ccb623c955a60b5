package versions

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

// An UPDATE that changes a clustered key moves a row. When a transaction then writes a row of a key
// which its snapshot gives to another row, the manuals leave open what it has written: the row that
// moved there (by row), or what the snapshot has under that key (by key). Whoever reads by row must
// show each row once; if two rows would have one key, that reading is impossible.
//
// What a transaction reads of itself is promised without a word on changed keys:
// https://dev.mysql.com/doc/refman/en/innodb-consistent-read.html

// Sight is a row that a read sees: a version that is no deletion, and its chain.
type Sight struct {
	Chain   *Chain
	Version *Version
}

// rowOf identifies the logical row of a version: by its number where the engine gives one, else by
// the chain.
func rowOf(c *Chain, v *Version) int {
	if v.RowID != 0 {
		return v.RowID
	}
	return -c.ID
}

// See returns the rows that a view sees of a table, in the order of its chains. Where keys have
// moved, the rows are told by row if that is possible, and by key if not. byKeyToo says that
// they are told apart since the transaction of the view wrote, of one row, a key which its snapshot
// gives to another one: then reading by key is as good.
func (t *Table) See(v View) (seen []Sight, byKeyToo bool) {
	if !t.Moves || v.Own == nil || len(v.Own.Writes) == 0 || v.Uncommitted {
		return t.seeChains(v), false
	}
	if v.ByKey {
		return t.seeByKey(v), false
	}
	moved := t.moved()
	byRow := t.seeByRow(v, moved)
	if t.keysTwice(byRow) {
		return t.seeByKey(v), false
	}
	return byRow, t.writesForeignKey(v, byRow)
}

// seeChains takes each chain for a row.
func (t *Table) seeChains(v View) []Sight {
	out := make([]Sight, 0, len(t.Chains))
	for _, c := range t.Chains {
		if ver := v.Seen(c); ver != nil {
			out = append(out, Sight{c, ver})
		}
	}
	return out
}

// moved returns the rows that have had more than one clustered key.
func (t *Table) moved() map[int]bool {
	keys := make(map[int]string, len(t.Chains))
	out := map[int]bool{}
	for _, c := range t.Chains {
		for i := range c.Versions {
			ver := &c.Versions[i]
			row := rowOf(c, ver)
			if key, known := keys[row]; known && key != ver.Key {
				out[row] = true
			}
			keys[row] = ver.Key
		}
	}
	return out
}

// seeByRow takes of each row its newest version that the view sees. A chain may hold several
// rows, one after the other; a row that never moved replaces those before it.
func (t *Table) seeByRow(v View, moved map[int]bool) []Sight {
	var all []Sight
	newest := map[int]int{}
	for _, c := range t.Chains {
		of := map[int]bool{}
		for i := len(c.Versions) - 1; i >= 0; i-- {
			ver := &c.Versions[i]
			row := rowOf(c, ver)
			if of[row] || !v.sees(ver) {
				continue
			}
			of[row] = true
			all = append(all, Sight{c, ver})
			newest[row] = max(newest[row], ver.Seq)
			if !moved[row] {
				break
			}
		}
	}
	return slices.DeleteFunc(all, func(s Sight) bool {
		return s.Version.Row == nil || newest[rowOf(s.Chain, s.Version)] > s.Version.Seq
	})
}

// keysTwice reports whether two rows have the same clustered key.
func (t *Table) keysTwice(seen []Sight) bool {
	keys := make(map[string]bool, len(seen))
	for _, s := range seen {
		if keys[s.Version.Key] {
			return true
		}
		keys[s.Version.Key] = true
	}
	return false
}

// written returns the keys that the transaction of a view has given to a row, taken from one or
// deleted, with the row; a key may be there more than once.
func (t *Table) written(v View) map[string][]int {
	out := map[string][]int{}
	for _, c := range t.Chains {
		for i := range c.Versions {
			ver := &c.Versions[i]
			if ver.Txn != v.Own || !v.sees(ver) {
				continue
			}
			row := rowOf(c, ver)
			out[ver.Key] = append(out[ver.Key], row)
			if i > 0 && c.Versions[i-1].Key != ver.Key {
				out[c.Versions[i-1].Key] = append(out[c.Versions[i-1].Key], row)
			}
		}
	}
	return out
}

// others is a view without what its own transaction wrote.
func (v View) others() View {
	if v.WithoutTxn == nil {
		v.WithoutTxn = v.Own
	}
	v.Own = nil
	return v
}

// seeByKey takes what the view's own transaction left under the keys that it wrote, and under all
// other keys what others have committed.
func (t *Table) seeByKey(v View) []Sight {
	written, others := t.written(v), v.others()
	var out []Sight
	for _, c := range t.Chains {
		if ver := v.Seen(c); ver != nil && ver.Txn == v.Own {
			out = append(out, Sight{c, ver})
		}
		// An own version of the chain may have another key.
		if ver := others.Seen(c); ver != nil && written[ver.Key] == nil {
			out = append(out, Sight{c, ver})
		}
	}
	return out
}

// writesForeignKey reports whether the two readings differ about a row because the transaction of the
// view wrote, of one row, a key that the view, without that transaction, gives to another one. Where a
// row merely moved to a key that is no other row's, there is nothing to mistake it for.
func (t *Table) writesForeignKey(v View, byRow []Sight) bool {
	written, there := t.written(v), map[string]int{}
	for _, s := range t.seeChains(v.others()) {
		there[s.Version.Key] = rowOf(s.Chain, s.Version)
	}
	mistaken := map[int]bool{} // by row: written under a key that is another one's, or that one
	for key, rows := range written {
		other, ok := there[key]
		for _, row := range rows {
			if ok && row != other {
				mistaken[row], mistaken[other] = true, true
			}
		}
	}
	if len(mistaken) == 0 {
		return false
	}
	byKey := t.seeByKey(v)
	apart := func(a, b []Sight) bool {
		return slices.ContainsFunc(a, func(s Sight) bool { return mistaken[rowOf(s.Chain, s.Version)] && !slices.Contains(b, s) })
	}
	return apart(byRow, byKey) || apart(byKey, byRow)
}

// Rows is See, as rows and their chains.
func (t *Table) Rows(v View) ([]solve.Row, []*Chain) {
	seen, _ := t.See(v)
	rows, chains := make([]solve.Row, len(seen)), make([]*Chain, len(seen))
	for i, s := range seen {
		rows[i], chains[i] = s.Version.Row, s.Chain
	}
	return rows, chains
}
