package harness

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// InitError says that the server refused a set-up statement of a case.
type InitError struct {
	Line int // index into Case.Init
	SQL  string
	Err  history.Error
}

func (e *InitError) Error() string {
	return fmt.Sprintf("set-up line %d, %s: error %d (%s): %s", e.Line+1, e.SQL, e.Err.Code, e.Err.State, history.Unscratched(e.Err.Message))
}

// provisioned is a database whose tables were made for one schema.
type provisioned struct {
	db     string
	schema string // its schemaKey; empty: not known
	uses   int
	// tables are those that the set-up makes, in the order in which they are read;
	// views are only known where the set-up is read back.
	tables []tableSpec
	views  []history.View
	// dirty says that emptying the tables does not lead back to the schema, or
	// that a killed session may still hold locks in it.
	dirty bool
	// initial is what was read back behind the set-up with the text fillKey.
	fillKey string
	initial []history.Table
	// after is what the tables held behind the last case, nil where that is not known.
	after []history.Table
	// laid counts the rows that questions have laid out in the tables since these were last truncated.
	laid int
	// asRefilled is what was read with the last refill, nil if nothing was.
	asRefilled []history.Table
}

// Every verifyEvery-th use of a database whose set-up text has not changed
// reads the initial state back all the same, to show that the refill is sound.
const verifyEvery = 32

// provision gives the tables of a case in their initial state, and that state. The
// database is the caller's until it is retired.
func (w *worker) provision(s *script) (p *provisioned, initial []history.Table, err error) {
	if s.refill {
		p, err = w.filled(s)
	} else {
		begun := time.Now()
		p, err = w.create(s, every(s.init))
		w.charge(Make, begun)
	}
	if err != nil {
		return nil, nil, err
	}
	defer w.charge(ReadBack, time.Now())
	if s.refill {
		initial, err = w.initial(p, s)
	} else {
		p.dirty = true
		initial, err = w.readAll(p, p.tables)
	}
	if err != nil {
		w.retire(p, true)
		return nil, nil, err
	}
	return p, initial, nil
}

// filled takes a database with the tables of a schema from the shelf, or makes it,
// and fills its tables.
func (w *worker) filled(s *script) (p *provisioned, err error) {
	schema := s.schemaKey()
	begun := time.Now()
	if p = w.pool.shelf.take(schema); p != nil {
		p.uses++
		w.pool.stats.reused.Add(1)
		err = w.refill(p, s)
	} else {
		p, err = w.create(s, s.creates)
		w.charge(Make, begun)
		if err != nil {
			return nil, err
		}
		p.schema, p.uses = schema, 1
		begun = time.Now()
		err = w.initLines(s, s.fills)
	}
	w.charge(Refill, begun)
	if err != nil {
		p.fillKey, p.initial = "", nil
		// After an INSERT that the server refused, emptying the tables leads
		// back to the schema; after anything else, nothing is known.
		ie := (*InitError)(nil)
		w.retire(p, !errors.As(err, &ie))
		return nil, err
	}
	return p, nil
}

// initial returns the state of filled tables. It is read from the server, save
// where the same text has filled the same tables before and always gives the
// same rows.
func (w *worker) initial(p *provisioned, s *script) ([]history.Table, error) {
	known := p.knows(s)
	if known && !p.verifies() {
		return p.initial, nil
	}
	tables := p.asRefilled
	if p.asRefilled = nil; tables == nil {
		var err error
		if tables, err = w.readAll(p, p.tables); err != nil {
			return nil, err
		}
	}
	if known && !w.pool.speech.refilledAlike(tables, p.initial) {
		return nil, fmt.Errorf("set up %s: refilled tables differ from those first made", p.db)
	}
	p.initial, p.fillKey = tables, s.fillKey()
	return tables, nil
}

// knows says that what a script fills the tables with has been read before.
func (p *provisioned) knows(s *script) bool {
	return s.constant && p.initial != nil && p.fillKey == s.fillKey()
}

// verifies says that this use reads also what is known.
func (p *provisioned) verifies() bool { return p.uses%verifyEvery == 0 }

// create makes a database and runs some lines of a set-up in it.
func (w *worker) create(s *script, lines []int) (*provisioned, error) {
	w.pool.stats.made.Add(1)
	p := &provisioned{db: w.pool.shelf.name()}
	if err := w.ctlExec(w.pool.speech.make + p.db); err != nil {
		w.pool.shelf.discard(p.db)
		return nil, err
	}
	if err := w.use(w.ctl, p.db); err != nil {
		w.pool.shelf.discard(p.db)
		return nil, err
	}
	err := w.initLines(s, lines)
	if err == nil {
		err = w.settleSetup(p, s)
	}
	if err != nil {
		w.pool.shelf.discard(p.db)
		return nil, err
	}
	return p, nil
}

func every(list []string) []int {
	out := make([]int, len(list))
	for i := range out {
		out[i] = i
	}
	return out
}

// initLines runs lines of a set-up one by one, so that an error names its line.
func (w *worker) initLines(s *script, lines []int) error {
	for _, i := range lines {
		if s.init[i] == "" {
			continue
		}
		r, err := w.control(s.init[i])
		if err != nil {
			return err
		}
		if r.Err != nil {
			s.nameDatabase(r.Err, w.ctl.db)
			return &InitError{i, s.init[i], *r.Err}
		}
	}
	return nil
}

// refill empties the tables of a database, runs the INSERTs and reads what they
// gave if that is not known, all in one round trip; where DELETE would leave a
// counter or too many dead versions behind, TRUNCATE comes first.
func (w *worker) refill(p *provisioned, s *script) error {
	if err := w.use(w.ctl, p.db); err != nil {
		return err
	}
	in := w.pool.speech
	truncate := s.clean || (p.uses-1)%w.pool.opt.TruncateEvery == 0 || in.truncates && p.counts()
	reads := len(p.tables) > 0 && (!p.knows(s) || p.verifies())
	p.asRefilled = nil
	fresh := p.unchanged(s, truncate)
	p.after = nil
	if len(fresh) == len(p.tables) && len(fresh) > 0 {
		return nil
	}
	var b strings.Builder
	if s.keyed {
		b.WriteString(in.unchecked + ";")
	}
	var counting []tableSpec
	for _, t := range p.tables {
		if truncate || t.auto {
			counting = append(counting, t)
		}
	}
	if len(counting) > 0 {
		b.WriteString(in.emptied(counting))
	}
	b.WriteString("BEGIN;")
	for _, t := range p.tables {
		if !truncate && !t.auto && !fresh[t.name] {
			b.WriteString("DELETE FROM " + in.quote(t.name) + ";")
		}
	}
	if s.keyed {
		b.WriteString(in.checked + ";")
	}
	for _, i := range s.fills {
		if !fresh[s.fillsTable[i]] {
			b.WriteString(s.init[i])
			b.WriteByte(';')
		}
	}
	b.WriteString("COMMIT")
	if reads {
		b.WriteByte(';')
		b.WriteString(in.reading(p.tables))
	}
	r, err := w.control(b.String())
	if err != nil {
		return err
	}
	if r.Err == nil {
		if reads {
			p.asRefilled, err = tablesOf(&r, p.tables)
		}
		return err
	}
	// Find the line that the server refused, from empty tables on.
	if err := w.ctlExec("ROLLBACK"); err != nil {
		return err
	}
	if s.keyed {
		if err := w.ctlExec(in.unchecked); err != nil {
			return err
		}
	}
	if len(p.tables) > 0 {
		if err := w.ctlExec(in.emptied(p.tables)); err != nil {
			return err
		}
	}
	if s.keyed {
		if err := w.ctlExec(in.checked); err != nil {
			return err
		}
	}
	return w.initLines(s, s.fills)
}

// unchanged returns the tables that need no refill: where a script says which table each
// INSERT fills, the same text has filled them before, and the last case has left in them
// what it found. A counter may have moved all the same.
func (p *provisioned) unchanged(s *script, truncate bool) map[string]bool {
	out := map[string]bool{}
	if s.fillsTable == nil || truncate || !p.knows(s) || p.verifies() || len(p.after) != len(p.initial) || len(p.tables) != len(p.initial) {
		return out
	}
	for _, name := range s.fillsTable {
		if !slices.ContainsFunc(p.tables, func(t tableSpec) bool { return t.name == name }) {
			return out // spelled otherwise
		}
	}
	for i, t := range p.tables {
		if !t.auto && sameTables(p.after[i:i+1], p.initial[i:i+1]) {
			out[t.name] = true
		}
	}
	return out
}

// readAll reads tables whole, in the server's scan order.
func (w *worker) readAll(p *provisioned, specs []tableSpec) ([]history.Table, error) {
	if err := w.use(w.ctl, p.db); err != nil {
		return nil, err
	}
	if len(specs) == 0 {
		return []history.Table{}, nil
	}
	r, err := w.query(w.pool.speech.reading(specs))
	if err != nil {
		return nil, err
	}
	return tablesOf(&r, specs)
}

// counts says that some table has a counter, which DELETE leaves as it is.
func (p *provisioned) counts() bool {
	return slices.ContainsFunc(p.tables, func(t tableSpec) bool { return t.auto })
}

// reading is the statements that read tables whole, for one round trip.
func (s *speech) reading(specs []tableSpec) string {
	var b strings.Builder
	for i, t := range specs {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString("SELECT * FROM " + s.quote(t.name))
	}
	return b.String()
}

// tablesOf takes the tables out of the answer to a text that ends with theirs.
func tablesOf(r *Reply, specs []tableSpec) ([]history.Table, error) {
	sets := append(r.Earlier, RowSet{r.Columns, r.Rows})
	if len(specs) == 0 || len(sets) != len(specs) || r.Columns == nil {
		return nil, fmt.Errorf("read %d tables: the server gave the rows of %d", len(specs), len(sets))
	}
	out := make([]history.Table, len(specs))
	for i, t := range specs {
		out[i] = history.Table{Name: t.name, Columns: sets[i].Columns, Rows: sets[i].Rows, Create: t.create}
	}
	return out, nil
}

// refilledAlike says that tables hold what the same text has filled them with before.
func (s *speech) refilledAlike(a, b []history.Table) bool {
	if !s.heaps {
		return sameTables(a, b)
	}
	return len(a) == len(b) && !slices.ContainsFunc(a, func(t history.Table) bool {
		at := slices.IndexFunc(b, func(o history.Table) bool { return o.Name == t.Name })
		return at < 0 || !history.SameRows(t.Rows, b[at].Rows, false)
	})
}

func sameTables(a, b []history.Table) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || len(a[i].Rows) != len(b[i].Rows) {
			return false
		}
		for j, row := range a[i].Rows {
			if len(row) != len(b[i].Rows[j]) {
				return false
			}
			for k := range row {
				if row[k] != b[i].Rows[j][k] {
					return false
				}
			}
		}
	}
	return true
}
