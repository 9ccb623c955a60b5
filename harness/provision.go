package harness

import (
	"errors"
	"fmt"
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
	return fmt.Sprintf("set-up line %d, %s: error %d (%s): %s", e.Line+1, e.SQL, e.Err.Code, e.Err.State, e.Err.Message)
}

// provisioned is a database whose tables were made for one schema.
type provisioned struct {
	db   string
	uses int
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
}

// Every verifyEvery-th use of a database whose set-up text has not changed
// reads the initial state back all the same, to show that the refill is sound.
const verifyEvery = 32

// provision gives the tables of a case in their initial state, and that state.
func (w *worker) provision(s *script) (*provisioned, []history.Table, error) {
	if !s.refill {
		begun := time.Now()
		p, err := w.create(s, every(s.init))
		w.charge(Make, begun)
		if err != nil {
			return nil, nil, err
		}
		p.dirty = true
		defer w.charge(ReadBack, time.Now())
		tables, err := w.readAll(p, p.tables)
		return p, tables, err
	}
	p, err := w.cached(s)
	if err != nil {
		return nil, nil, err
	}
	tables, err := w.initial(p, s)
	if err != nil {
		w.cache.Remove(s.schemaKey())
		return nil, nil, err
	}
	return p, tables, nil
}

// cached takes the database of a schema from the cache, or makes it, and fills
// its tables.
func (w *worker) cached(s *script) (p *provisioned, err error) {
	key := s.schemaKey()
	begun := time.Now()
	p, hit := w.cache.Get(key)
	if hit {
		w.pool.stats.reused.Add(1)
		err = w.refill(p, s)
	} else {
		if p, err = w.create(s, s.creates); err != nil {
			w.charge(Make, begun)
			return nil, err
		}
		w.cache.Add(key, p)
		err = w.evictions()
		w.charge(Make, begun)
		if begun = time.Now(); err == nil {
			err = w.initLines(s, s.fills)
		}
	}
	w.charge(Refill, begun)
	p.uses++
	if err != nil {
		p.fillKey, p.initial = "", nil
		// After an INSERT that the server refused, emptying the tables leads
		// back to the schema; after anything else, nothing is known.
		if ie := (*InitError)(nil); !errors.As(err, &ie) {
			w.cache.Remove(key)
		}
		return nil, err
	}
	return p, nil
}

// initial returns the state of filled tables. It is read from the server, save
// where the same text has filled the same tables before and always gives the
// same rows.
func (w *worker) initial(p *provisioned, s *script) ([]history.Table, error) {
	fills := s.fillKey()
	known := s.constant && p.initial != nil && p.fillKey == fills
	if known && p.uses%verifyEvery != 0 {
		return p.initial, nil
	}
	defer w.charge(ReadBack, time.Now())
	tables, err := w.readAll(p, p.tables)
	if err != nil {
		return nil, err
	}
	if known && !sameTables(tables, p.initial) {
		return nil, fmt.Errorf("set up %s: refilled tables differ from those first made", p.db)
	}
	p.initial, p.fillKey = tables, fills
	return tables, nil
}

// create makes a database and runs some lines of a set-up in it.
func (w *worker) create(s *script, lines []int) (*provisioned, error) {
	w.databases++
	w.pool.stats.made.Add(1)
	p := &provisioned{db: fmt.Sprintf("%s%d_%d", w.pool.prefix, w.number, w.databases)}
	if err := w.ctlExec("CREATE DATABASE " + p.db); err != nil {
		return nil, err
	}
	w.made[p.db] = true
	if err := w.use(w.ctl, p.db); err != nil {
		return nil, err
	}
	err := w.initLines(s, lines)
	if err == nil {
		err = w.settleSetup(p, s)
	}
	if err != nil {
		if !w.ctl.broken {
			err = errors.Join(err, w.drop(p.db))
		}
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

// refill empties the tables of a database and runs the INSERTs, all in one
// round trip and one transaction; where DELETE would leave a counter or too
// many dead versions behind, TRUNCATE comes first.
func (w *worker) refill(p *provisioned, s *script) error {
	if err := w.use(w.ctl, p.db); err != nil {
		return err
	}
	truncate := s.clean || p.uses%w.pool.opt.TruncateEvery == 0
	var b strings.Builder
	for _, t := range p.tables {
		if truncate || t.auto {
			b.WriteString("TRUNCATE TABLE " + quote(t.name) + ";" + t.counter())
		}
	}
	b.WriteString("BEGIN;")
	for _, t := range p.tables {
		if !truncate && !t.auto {
			b.WriteString("DELETE FROM " + quote(t.name) + ";")
		}
	}
	for _, i := range s.fills {
		b.WriteString(s.init[i])
		b.WriteByte(';')
	}
	b.WriteString("COMMIT")
	r, err := w.control(b.String())
	if err != nil {
		return err
	}
	if r.Err == nil {
		return nil
	}
	// Find the line that the server refused, from empty tables on.
	if err := w.ctlExec("ROLLBACK"); err != nil {
		return err
	}
	for _, t := range p.tables {
		if err := w.ctlExec("TRUNCATE TABLE " + quote(t.name)); err != nil {
			return err
		}
		if sql := t.counter(); sql != "" {
			if err := w.ctlExec(sql); err != nil {
				return err
			}
		}
	}
	return w.initLines(s, s.fills)
}

// evictions drops the databases that the cache pushed out.
func (w *worker) evictions() error {
	for len(w.evicted) > 0 {
		if err := w.drop(w.evicted[0]); err != nil {
			return err
		}
		w.evicted = w.evicted[1:]
	}
	return nil
}

// drop drops a database that this worker made, and no other.
func (w *worker) drop(db string) error {
	if !w.made[db] {
		return fmt.Errorf("refused to drop database %q: not made here", db)
	}
	if err := w.ctlExec("DROP DATABASE IF EXISTS " + db); err != nil {
		return err
	}
	delete(w.made, db)
	if w.ctl.db == db {
		w.ctl.db = ""
	}
	return nil
}

// readAll reads tables whole, in the server's scan order.
func (w *worker) readAll(p *provisioned, specs []tableSpec) ([]history.Table, error) {
	if err := w.use(w.ctl, p.db); err != nil {
		return nil, err
	}
	out := make([]history.Table, 0, len(specs))
	for _, t := range specs {
		r, err := w.query("SELECT * FROM " + quote(t.name))
		if err != nil {
			return nil, err
		}
		out = append(out, history.Table{Name: t.name, Columns: r.Columns, Rows: r.Rows, Create: t.create})
	}
	return out, nil
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

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
