package mutate

import (
	"slices"
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/mysql"
)

var (
	columnCounts = []weighted[int]{{6, 1}, {38, 2}, {32, 3}, {14, 4}, {10, 5}}
	// primaryWidths gives the number of columns of the primary key.
	primaryWidths = []weighted[int]{{26, 0}, {56, 1}, {18, 2}}
	// otherKeys gives the number of keys beside the primary key.
	otherKeys = []weighted[int]{{46, 0}, {36, 1}, {18, 2}}
	keyWidths = []weighted[int]{{72, 1}, {28, 2}}
	rowCounts = []weighted[int]{{6, 1}, {14, 2}, {22, 3}, {20, 4}, {14, 5}, {9, 6}, {6, 7}, {4, 8}, {3, 9}, {2, 10}}
)

const (
	// Out of 256.
	notNullOdds     = 46
	defaultOdds     = 46
	uniqueOdds      = 120
	rowNullOdds     = 38
	rowRepeatOdds   = 90
	rowLimitOdds    = 9
	rowSequenceOdds = 190
	// varietyOdds is how often a table has columns of all types.
	varietyOdds = 48
	autoOdds    = 12
	descOdds    = 16
)

// prefixLength is the length of the prefix that a key holds of a TEXT or BLOB.
// Common values are no longer, so that it tells them apart.
const prefixLength = 4

var tableNames = []string{"t", "u"}

// newTable makes the definition of the n-th table with columns of some types.
func newTable(c *choices, n int, types []weighted[*dataType]) *table {
	t := &table{name: tableNames[n]}
	count := pick(c, columnCounts)
	if c.odds(varietyOdds) {
		types = allDataTypes
	}
	for i := range count {
		col := column{name: string(rune('a' + i)), typ: pick(c, types), notNull: c.odds(notNullOdds)}
		col.notNull = col.notNull && !col.typ.nullable
		if c.odds(defaultOdds) && !col.typ.unkeyed {
			v := oneOf(c, col.typ.pool)
			col.def = &v
		}
		t.cols = append(t.cols, col)
	}
	if w := min(pick(c, primaryWidths), len(t.cols)); w > 0 {
		t.addKey(c, key{primary: true, unique: true}, w)
	}
	for range pick(c, otherKeys) {
		w := min(pick(c, keyWidths), len(t.cols))
		t.addKey(c, key{unique: c.odds(uniqueOdds)}, w)
	}
	t.addPrefixKey(c)
	if t.canCount() && c.odds(autoOdds) {
		t.cols[t.keys[0].columns[0]].generated = true
		t.cols[t.keys[0].columns[0]].def = nil
	}
	return t
}

// canCount says whether the primary key is a single integer, so that it may be
// AUTO_INCREMENT.
func (t *table) canCount() bool {
	if len(t.keys) == 0 || !t.keys[0].primary || len(t.keys[0].columns) > 1 {
		return false
	}
	typ := t.cols[t.keys[0].columns[0]].typ
	return typ.family == integers && typ.tp != mysql.TypeBit
}

// keyable says whether a column can be part of a key.
func (t *table) keyable(i int, k *key) bool {
	typ := t.cols[i].typ
	return !typ.unkeyed && !(k.primary && typ.nullable)
}

// addKey adds a key over w columns unless another key has the same columns.
func (t *table) addKey(c *choices, k key, w int) {
	at := c.below(len(t.cols))
	for n := 0; n < len(t.cols) && len(k.columns) < w; n++ {
		if i := (at + n) % len(t.cols); t.keyable(i, &k) {
			k.columns = append(k.columns, i)
		}
	}
	if w = len(k.columns); w == 0 {
		return
	}
	if w > 1 && c.odds(64) {
		slices.Reverse(k.columns)
	}
	for _, other := range t.keys {
		if slices.Equal(other.columns, k.columns) {
			return
		}
	}
	if k.primary {
		for _, i := range k.columns {
			t.cols[i].notNull = true
		}
	} else {
		k.name = "k" + strconv.Itoa(len(t.keys)+1)
		k.desc = c.odds(descOdds)
	}
	t.keys = append(t.keys, k)
}

// addPrefixKey gives half of the tables with a TEXT or BLOB a key on its prefix.
func (t *table) addPrefixKey(c *choices) {
	for i := range t.cols {
		if t.cols[i].typ.unkeyed {
			if c.odds(128) {
				t.keys = append(t.keys, key{name: "k" + strconv.Itoa(len(t.keys)+1), columns: []int{i}, prefix: prefixLength})
			}
			return
		}
	}
}

// fill gives the table its rows. No row violates NOT NULL or a unique key.
func (t *table) fill(src Source, limit int) {
	n := min(pick(on(src, RowsLane), rowCounts), limit)
	for i := range n {
		c := window(src, RowsLane, 2*len(t.cols))
		row := make([]value, len(t.cols))
		for j := range row {
			row[j] = t.rowValue(c, j, i)
		}
		if t.settle(row) {
			t.rows = append(t.rows, row)
		}
	}
}

// rowValue chooses the value of column j in the i-th row.
func (t *table) rowValue(c *choices, j, i int) value {
	col := &t.cols[j]
	if col.generated {
		// A zero or a value at the limit would make the server count from there.
		return col.typ.nth(i)
	}
	if _, unique := t.inKey(j); unique && !c.odds(256-rowSequenceOdds) {
		return col.typ.nth(i)
	}
	switch b := int(c.next()); {
	case b < 256-rowNullOdds-rowRepeatOdds-rowLimitOdds:
		return oneOf(c, col.typ.pool)
	case b < 256-rowNullOdds-rowLimitOdds && len(t.rows) > 0:
		return oneOf(c, t.rows)[j]
	case b < 256-rowLimitOdds && !col.notNull:
		return null
	case b >= 256-rowLimitOdds:
		return oneOf(c, col.typ.limits)
	default:
		return oneOf(c, col.typ.pool)
	}
}

// settle changes a row until it clashes with no row of the table: it walks the
// sequence of the clashing key's last column. It gives up where every value of
// the sequence that the type can hold is taken.
func (t *table) settle(row []value) bool {
	for n := range 4 * (len(t.rows) + 1) {
		k := t.clash(t.rows, row)
		if k == nil {
			return true
		}
		last := k.columns[len(k.columns)-1]
		v := t.cols[last].typ.nth(n)
		if !t.cols[last].typ.holds(v) {
			return false
		}
		row[last] = v
	}
	return t.clash(t.rows, row) == nil
}
