package races

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// raced is a case and the level of its sessions, with a statement that is to be held.
type raced struct {
	c     *corpus.Case
	level corpus.Level
	held  int // step
	until int // step behind which it is let go; -1: when nobody else has anything left to send
}

// heldSession is the session whose statement is held.
const heldSession = 1

// table is that of MySQL's and MariaDB's cases.
const table = `CREATE TABLE t (k INT PRIMARY KEY, v INT, u INT, s INT, UNIQUE KEY (u), KEY (s))`

// rows is how many rows the table has; keys above it are free.
const rows = 4

// maker makes cases. Every value that is written to v is unique.
type maker struct {
	*rand.Rand
	next int
	hot  int // the key that is named most often
	// scene is what the statements are about.
	scene scene
}

// scene is a set-up and the statements that go with it.
type scene interface {
	setup(*maker) []string
	write(*maker) string
	read(*maker) string
	lockingRead(*maker) string
	// held and other make the scripts of the session whose statement is held, the last of before, and of another.
	held(*maker) script
	other(*maker) script
}

// onMySQL is the scene of MySQL and MariaDB.
type onMySQL struct{}

func (onMySQL) setup(*maker) []string {
	text := "INSERT INTO t VALUES "
	for k := 1; k <= rows; k++ {
		text += fmt.Sprintf("(%d, %d, %d, %d)%s", k, k, 10*k, k%3, map[bool]string{true: "", false: ", "}[k == rows])
	}
	return []string{table, text}
}

func (m *maker) pick(texts ...string) string { return texts[m.IntN(len(texts))] }

func (m *maker) value() int {
	m.next++
	return 100 + m.next
}

func (m *maker) key() int {
	if m.IntN(2) == 0 {
		return m.hot
	}
	return 1 + m.IntN(rows)
}

// write changes something; one that names one row by its primary key is the likeliest, since what it
// does is determined whatever comes between.
func (onMySQL) write(m *maker) string {
	k := m.key()
	switch m.IntN(16) {
	case 0, 1, 2, 3, 4:
		return fmt.Sprintf("UPDATE t SET v = %d WHERE k = %d", m.value(), k)
	case 5, 6:
		return fmt.Sprintf("UPDATE t SET v = v + %d WHERE k = %d", m.value(), k)
	case 7:
		return fmt.Sprintf("UPDATE t SET s = %d, v = %d WHERE k = %d", m.IntN(3), m.value(), k)
	case 8:
		return fmt.Sprintf("UPDATE t SET v = %d WHERE s = %d", m.value(), m.IntN(3))
	case 9:
		return fmt.Sprintf("DELETE FROM t WHERE k = %d", k)
	case 10, 11:
		return fmt.Sprintf("INSERT INTO t VALUES (%d, %d, %d, %d)", rows+1+m.IntN(2), m.value(), 50+m.IntN(2), m.IntN(3))
	case 12:
		return fmt.Sprintf("INSERT INTO t VALUES (%d, %d, %d, 1) ON DUPLICATE KEY UPDATE v = %d", k, m.value(), 60+k, m.value())
	case 13:
		return fmt.Sprintf("REPLACE INTO t VALUES (%d, %d, %d, %d)", k, m.value(), 10*k, m.IntN(3))
	case 14:
		return fmt.Sprintf("UPDATE t SET u = %d WHERE k = %d", 50+m.IntN(2), k)
	}
	return fmt.Sprintf("INSERT INTO t (k, v) VALUES (%d, %d)", rows+1+m.IntN(2), m.value())
}

func (onMySQL) read(m *maker) string {
	return m.pick(
		"SELECT k, v FROM t ORDER BY k", "SELECT k, v FROM t ORDER BY k", "SELECT k, v FROM t ORDER BY k",
		"SELECT k, v, u, s FROM t ORDER BY k", "SELECT k, v, u, s FROM t ORDER BY k",
		fmt.Sprintf("SELECT k, v FROM t WHERE k BETWEEN %d AND %d ORDER BY k", m.IntN(2), 2+m.IntN(4)),
		fmt.Sprintf("SELECT k, v FROM t WHERE s = %d ORDER BY k", m.IntN(3)),
		"SELECT COUNT(*), SUM(v) FROM t",
		fmt.Sprintf("SELECT v FROM t WHERE k = %d", m.key()))
}

func (onMySQL) lockingRead(m *maker) string {
	return fmt.Sprintf("SELECT k, v FROM t WHERE k = %d %s", m.key(), m.pick("FOR UPDATE", "LOCK IN SHARE MODE"))
}

// script is what one session sends: before the hold, while it lasts, and behind it.
type script struct{ before, during, after []string }

func (m *maker) write() string       { return m.scene.write(m) }
func (m *maker) read() string        { return m.scene.read(m) }
func (m *maker) lockingRead() string { return m.scene.lockingRead(m) }

func (onMySQL) held(m *maker) script {
	var s script
	switch m.IntN(10) {
	case 0, 1, 2: // a reader in autocommit
		s.before = []string{m.read()}
	case 3, 4: // a snapshot that is held while it is taken
		s.before = []string{m.pick("START TRANSACTION WITH CONSISTENT SNAPSHOT")}
		s.after = []string{m.read(), "COMMIT"}
	case 5: // a reader in a transaction
		s.before = []string{"BEGIN", m.read()}
		s.after = []string{m.read(), "COMMIT"}
	case 6: // a COMMIT
		s.before = []string{"BEGIN", m.write()}
		if m.IntN(2) == 0 {
			s.before = append(s.before, m.write())
		}
		s.before = append(s.before, m.pick("COMMIT", "COMMIT", "ROLLBACK"))
	case 7: // a write in autocommit
		s.before = []string{m.write()}
	case 8: // a write in a transaction
		s.before = []string{"BEGIN", m.pick(m.read(), m.write()), m.write()}
		s.after = []string{m.pick("COMMIT", "COMMIT", "ROLLBACK")}
	default: // a locking read and what it decides
		s.before = []string{"BEGIN", m.lockingRead()}
		s.after = []string{m.write(), "COMMIT"}
	}
	return s
}

// other: most have written before the hold begins, and commit while it lasts.
func (onMySQL) other(m *maker) script {
	var s script
	if m.IntN(5) == 0 {
		for range 1 + m.IntN(2) {
			s.during = append(s.during, m.pick(m.write(), m.write(), m.read()))
		}
		return s
	}
	s.before = []string{"BEGIN"}
	for range []int{0, 1, 1, 1, 2}[m.IntN(5)] {
		s.before = append(s.before, m.pick(m.write(), m.write(), m.write(), m.write(), m.read()))
	}
	for range m.IntN(2) + m.IntN(2) {
		s.during = append(s.during, m.pick(m.write(), m.write(), m.read(), m.lockingRead()))
	}
	if len(s.before) == 1 && len(s.during) == 0 {
		s.during = append(s.during, m.write())
	}
	end := m.pick("COMMIT", "COMMIT", "COMMIT", "COMMIT", "ROLLBACK")
	if m.IntN(8) == 0 {
		s.after = append(s.after, end)
	} else {
		s.during = append(s.during, end)
	}
	return s
}

// makeCase makes the n-th case of a seed for a server; nil if nothing happens in it while the statement is held.
func makeCase(on history.DBMS, seed uint64, n int, levels []corpus.Level) (*raced, error) {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, uint64(n)))}
	m.hot = 1 + m.IntN(rows)
	level := levels[m.IntN(len(levels))]
	m.scene = onMySQL{}
	switch on {
	case history.PostgreSQL:
		m.scene = onPostgres(m, level)
	case history.TiDB:
		m.scene = onTiDB(m)
	}
	scripts := []script{m.scene.held(m)}
	for range 1 + min(1, m.IntN(6)) {
		scripts = append(scripts, m.scene.other(m))
	}
	text := ""
	for _, sql := range m.scene.setup(m) {
		text += "/* init */ " + sql + ";\n"
	}
	steps := 0
	add := func(session int, sql string) {
		text += fmt.Sprintf("/* tx%d */ %s;\n", session, sql)
		steps++
	}
	// weave takes the lines of all sessions in any order that keeps each one's own.
	weave := func(part func(*script) []string) {
		left := make([][]string, len(scripts))
		for i := range scripts {
			left[i] = slices.Clone(part(&scripts[i]))
		}
		for {
			var open []int
			for i := range left {
				for range left[i] {
					open = append(open, i)
				}
			}
			if len(open) == 0 {
				return
			}
			i := open[m.IntN(len(open))]
			add(i+1, left[i][0])
			left[i] = left[i][1:]
		}
	}
	last := len(scripts[0].before) - 1
	hold := scripts[0].before[last]
	scripts[0].before = scripts[0].before[:last]
	weave(func(s *script) []string { return s.before })
	r := &raced{level: level, held: steps}
	add(heldSession, hold)
	weave(func(s *script) []string { return s.during })
	r.until = steps - 1
	weave(func(s *script) []string { return s.after })
	c, err := corpus.Parse("a case of the search for races", []byte(text))
	if err != nil {
		return nil, fmt.Errorf("make a case: %w", err)
	}
	if r.until == r.held {
		return nil, nil // nothing happens while it is held
	}
	by := map[int]corpus.Level{}
	for _, s := range c.Sessions() {
		by[s] = level
	}
	c.SetLevels(by)
	r.c = c
	return r, nil
}

// at is the case with its statement held at a place.
func (r *raced) at(place *corpus.Hold) *corpus.Case {
	c := *r.c
	c.Steps = slices.Clone(r.c.Steps)
	c.Steps[r.held].Hold = place
	if r.until >= 0 {
		c.Steps[r.until].Frees = true
	}
	return &c
}

// late is the case in which the statement comes, unheld, behind those beside it.
func (r *raced) late() *corpus.Case {
	c := *r.c
	held := r.c.Steps[r.held]
	c.Steps = nil
	sent, behind := false, []corpus.Line(nil)
	for i, l := range r.c.Steps {
		switch {
		case i == r.held:
		case i > r.held && !sent && l.Session == held.Session:
			behind = append(behind, l)
		default:
			c.Steps = append(c.Steps, l)
		}
		if i == r.until || i == len(r.c.Steps)-1 && !sent {
			sent = true
			c.Steps = append(append(c.Steps, held), behind...)
		}
	}
	return &c
}

// heldOf are the ways to hold a statement of a case of somebody else: the one that its header names or, if
// it names none, each in turn, while all that other sessions send behind it runs. A case without levels in
// its header is searched at each of levels.
func heldOf(c *corpus.Case, levels []corpus.Level) (out []*raced) {
	c = c.Clone()
	held, until := c.Held()
	for i := range c.Steps {
		c.Steps[i].Hold, c.Steps[i].Frees = nil, false
	}
	var at []*corpus.Case
	if l, ok := c.LevelOf(c.Steps[0].Session); ok {
		at, levels = append(at, c), []corpus.Level{l}
	} else {
		for _, l := range levels {
			d := c.Clone()
			by := map[int]corpus.Level{}
			for _, s := range c.Sessions() {
				by[s] = l
			}
			d.SetLevels(by)
			at = append(at, d)
		}
	}
	for i, d := range at {
		for step, l := range d.Steps {
			others := slices.ContainsFunc(d.Steps[step+1:], func(o corpus.Line) bool { return o.Session != l.Session })
			switch {
			case held == step:
				out = append(out, &raced{d, levels[i], step, until})
			case held < 0 && others:
				out = append(out, &raced{d, levels[i], step, -1})
			}
		}
	}
	return out
}
