package reduce

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// table is what CREATE TABLE tells. Names are in lower case.
type table struct {
	name    string
	columns []column
	keys    [][]string
	// others holds the tables that foreign keys refer to.
	others []reference
}

type column struct {
	name          string
	autoIncrement bool
	// number says that the type holds numbers, so that a default or a row
	// with other text is refused.
	number bool
	// required says that NULL is refused.
	required bool
}

// reference is a foreign key: these columns of that table need a key.
type reference struct {
	table   string
	columns []string
}

// index is what CREATE INDEX tells.
type index struct {
	table   string
	columns []string
}

func (t *table) column(name string) (column, bool) {
	for _, c := range t.columns {
		if c.name == name {
			return c, true
		}
	}
	return column{}, false
}

func tableOf(n *ast.CreateTableStmt) *table {
	t := &table{name: n.Table.Name.L}
	for _, c := range n.Cols {
		col := column{name: c.Name.Name.L, number: c.Tp != nil && !c.Tp.EvalType().IsStringKind()}
		for _, o := range c.Options {
			switch o.Tp {
			case ast.ColumnOptionAutoIncrement:
				col.autoIncrement = true
			case ast.ColumnOptionPrimaryKey, ast.ColumnOptionUniqKey:
				t.keys = append(t.keys, []string{col.name})
				col.required = col.required || o.Tp == ast.ColumnOptionPrimaryKey
			case ast.ColumnOptionNotNull:
				col.required = true
			case ast.ColumnOptionReference:
				t.refer(o.Refer)
			}
		}
		t.columns = append(t.columns, col)
	}
	for _, k := range n.Constraints {
		if len(k.Keys) > 0 && k.Tp != ast.ConstraintForeignKey {
			t.keys = append(t.keys, partNames(k.Keys))
		}
		if k.Tp == ast.ConstraintPrimaryKey {
			t.require(partNames(k.Keys))
		}
		t.refer(k.Refer)
	}
	return t
}

func (t *table) require(names []string) {
	for i, c := range t.columns {
		if slices.Contains(names, c.name) {
			t.columns[i].required = true
		}
	}
}

func (t *table) refer(r *ast.ReferenceDef) {
	if r != nil && r.Table != nil {
		t.others = append(t.others, reference{r.Table.Name.L, partNames(r.IndexPartSpecifications)})
	}
}

func indexOf(n *ast.CreateIndexStmt) *index {
	return &index{n.Table.Name.L, partNames(n.IndexPartSpecifications)}
}

// partNames lists the columns of key parts; an expression counts as no column.
func partNames(parts []*ast.IndexPartSpecification) []string {
	var out []string
	for _, p := range parts {
		name := ""
		if p.Column != nil {
			name = p.Column.Name.L
		}
		out = append(out, name)
	}
	return out
}

// schema holds the tables of a draft. Schemas are interned: equal ones are the
// same pointer, which statements use as the key of what they look up in them.
type schema struct {
	order  []*table
	byName map[string]*table
	// faults holds what is wrong with the definitions themselves.
	faults []string
}

func newSchema(made []*statement) *schema {
	s := &schema{byName: map[string]*table{}}
	for _, st := range made {
		if t := st.creates; t != nil {
			if s.byName[t.name] != nil {
				s.faults = append(s.faults, "two tables "+t.name)
				continue
			}
			// A copy: CREATE INDEX adds to the keys.
			c := *t
			c.keys = slices.Clone(t.keys)
			s.order = append(s.order, &c)
			s.byName[t.name] = &c
		}
	}
	for _, st := range made {
		if st.indexes == nil {
			continue
		}
		if t := s.byName[st.indexes.table]; t != nil {
			t.keys = append(t.keys, st.indexes.columns)
		}
	}
	for _, t := range s.order {
		s.inspect(t)
	}
	return s
}

// inspect notes definitions that servers refuse.
func (s *schema) inspect(t *table) {
	if len(t.columns) == 0 {
		s.faults = append(s.faults, "table without columns")
	}
	names := map[string]bool{}
	for _, c := range t.columns {
		if names[c.name] {
			s.faults = append(s.faults, "two columns of one name")
		}
		names[c.name] = true
		if c.autoIncrement && !t.keyed([]string{c.name}) {
			s.faults = append(s.faults, "AUTO_INCREMENT without key")
		}
	}
	for _, r := range t.others {
		o := s.byName[r.table]
		switch {
		case o == nil:
			s.faults = append(s.faults, "foreign key to unknown "+r.table)
		case !o.keyed(r.columns):
			s.faults = append(s.faults, "foreign key to columns without key")
		}
	}
}

// keyed reports whether some key starts with these columns.
func (t *table) keyed(columns []string) bool {
	for _, k := range t.keys {
		if len(k) >= len(columns) && slices.Equal(k[:len(columns)], columns) {
			return true
		}
	}
	return false
}
