package races

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// onPostgres draws a scene of PostgreSQL. What foreign keys and upserts break at SERIALIZABLE needs no hold and is
// known (docs/postgresql.md), and at REPEATABLE READ nobody promises what they do on rows that the snapshot lacks.
func onPostgres(m *maker, level corpus.Level) scene {
	if level == corpus.Serializable && m.IntN(3) == 0 {
		return newDangerous(m)
	}
	newest := level <= corpus.ReadCommitted
	if m.IntN(map[bool]int{true: 3, false: 12}[newest]) == 0 {
		does := m.pick("", "", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON UPDATE CASCADE")
		return references{postgresScene("p"), does}
	}
	return rowsOfOne{postgresScene: "t", wide: m.IntN(3) == 0, bare: m.IntN(5) == 0, upserts: newest}
}

// transaction makes the statements of one, BEGIN and its end among them.
func (m *maker) transaction() []string {
	out := []string{"BEGIN"}
	saved := false
	for range 1 + m.IntN(3) {
		if !saved && m.IntN(12) == 0 {
			out, saved = append(out, "SAVEPOINT a"), true
		}
		out = append(out, m.pick(m.read(), m.read(), m.write(), m.write(), m.write(), m.lockingRead()))
		if saved && m.IntN(3) == 0 {
			out = append(out, "ROLLBACK TO a")
		}
	}
	return append(out, m.pick("COMMIT", "COMMIT", "COMMIT", "COMMIT", "COMMIT", "ROLLBACK"))
}

// postgresScene is what PostgreSQL's scenes have in common: the name of the table of which rows are locked.
type postgresScene string

func (t postgresScene) lockingRead(m *maker) string {
	k := m.key()
	return m.pick(
		fmt.Sprintf("SELECT k, v FROM %s WHERE k = %d FOR UPDATE", t, k),
		fmt.Sprintf("SELECT k, v FROM %s WHERE k = %d LOCK IN SHARE MODE", t, k),
		fmt.Sprintf("/* raw reads=%[1]s locks=exclusive */ SELECT k, v FROM %[1]s WHERE k = %d FOR NO KEY UPDATE", t, k),
		fmt.Sprintf("/* raw reads=%[1]s locks=share */ SELECT k, v FROM %[1]s WHERE k = %d FOR KEY SHARE", t, k))
}

// held is a statement in autocommit, or any of a transaction but its BEGIN, which does nothing yet.
func (postgresScene) held(m *maker) script {
	switch m.IntN(6) {
	case 0:
		return script{before: []string{m.read()}}
	case 1:
		return script{before: []string{m.write()}}
	}
	all := m.transaction()
	at := 1 + m.IntN(len(all)-1)
	return script{before: all[:at+1], after: all[at+1:]}
}

// other begins before the hold or while it lasts, and mostly ends while it lasts.
func (postgresScene) other(m *maker) script {
	if m.IntN(5) == 0 {
		return script{during: []string{m.pick(m.write(), m.write(), m.read())}}
	}
	all := m.transaction()
	from := m.IntN(len(all))
	to := len(all)
	if m.IntN(6) == 0 {
		to--
	}
	return script{before: all[:from], during: all[from:max(from, to)], after: all[max(from, to):]}
}

// rowsOfOne is a table with a unique key and an index; v is in none, so that a change of it is a HOT update. If it is
// wide, its page is full, so that what is added goes to a new one, and what is read is pruned; if it is bare, it has no
// rows, nor its indexes pages.
type rowsOfOne struct {
	postgresScene
	wide, bare, upserts bool
}

func (s rowsOfOne) setup(m *maker) []string {
	def := "CREATE TABLE t (k INT PRIMARY KEY, v INT, u INT, s INT, UNIQUE KEY (u), KEY (s))"
	if s.wide {
		def = "CREATE TABLE t (k INT PRIMARY KEY, v INT, u INT, s INT, pad VARCHAR(1900) DEFAULT '" +
			strings.Repeat("x", 1900) + "', UNIQUE KEY (u), KEY (s))"
	}
	if s.bare {
		return []string{def}
	}
	text := "INSERT INTO t (k, v, u, s) VALUES (1, 1, 10, 1)"
	for k := 2; k <= rows; k++ {
		text += fmt.Sprintf(", (%d, %d, %d, %d)", k, k, 10*k, k%3)
	}
	return []string{def, text}
}

func (s rowsOfOne) write(m *maker) string {
	k := m.key()
	n := 20
	if !s.upserts {
		n = 16
	}
	if s.bare && m.IntN(2) == 0 {
		return fmt.Sprintf("INSERT INTO t (k, v, u, s) VALUES (%d, %d, %d, %d)", k, m.value(), 10*k, m.IntN(3))
	}
	switch m.IntN(n) {
	case 0, 1, 2, 3:
		return fmt.Sprintf("UPDATE t SET v = %d WHERE k = %d", m.value(), k)
	case 4, 5, 6:
		return fmt.Sprintf("UPDATE t SET v = v + %d WHERE k = %d", m.value(), k)
	case 7:
		return fmt.Sprintf("UPDATE t SET s = %d, v = %d WHERE k = %d", m.IntN(3), m.value(), k)
	case 8:
		return fmt.Sprintf("UPDATE t SET v = %d WHERE s = %d", m.value(), m.IntN(3))
	case 9:
		return fmt.Sprintf("DELETE FROM t WHERE k = %d", k)
	case 10, 11:
		return fmt.Sprintf("INSERT INTO t (k, v, u, s) VALUES (%d, %d, %d, %d)",
			rows+1+m.IntN(2), m.value(), 50+m.IntN(2), m.IntN(3))
	case 12:
		return fmt.Sprintf("UPDATE t SET u = %d WHERE k = %d", 50+m.IntN(2), k)
	case 13:
		return fmt.Sprintf("UPDATE t SET k = %d WHERE k = %d", rows+1+m.IntN(2), k)
	case 14:
		return fmt.Sprintf("INSERT INTO t (k, v) VALUES (%d, %d)", rows+1+m.IntN(2), m.value())
	case 15:
		return fmt.Sprintf("UPDATE t SET v = %d", m.value())
	case 16:
		return fmt.Sprintf("INSERT IGNORE INTO t (k, v, u) VALUES (%d, %d, %d)", k, m.value(), 50+m.IntN(2))
	case 17:
		return fmt.Sprintf("/* raw reads=t writes=t */ INSERT INTO t (k, v, u) VALUES (%d, %d, %d) "+
			"ON CONFLICT (u) DO UPDATE SET v = %d", rows+1+m.IntN(2), m.value(), 50+m.IntN(2), m.value())
	}
	return fmt.Sprintf("/* raw reads=t writes=t */ INSERT INTO t (k, v) VALUES (%d, %d) "+
		"ON CONFLICT (k) DO UPDATE SET v = %d", m.pickKey(k), m.value(), m.value())
}

// pickKey is a key that is there or one that is free.
func (m *maker) pickKey(k int) int {
	if m.IntN(2) == 0 {
		return k
	}
	return rows + 1 + m.IntN(2)
}

func (s rowsOfOne) read(m *maker) string {
	return m.pick(
		"SELECT k, v FROM t ORDER BY k", "SELECT k, v FROM t ORDER BY k", "SELECT k, v, u, s FROM t ORDER BY k",
		fmt.Sprintf("SELECT k, v FROM t WHERE k BETWEEN %d AND %d ORDER BY k", m.IntN(2), 2+m.IntN(5)),
		fmt.Sprintf("SELECT k, v FROM t WHERE s = %d ORDER BY k", m.IntN(3)),
		fmt.Sprintf("SELECT COUNT(*) FROM t WHERE s = %d", m.IntN(3)),
		fmt.Sprintf("SELECT v FROM t WHERE u = %d", 50+m.IntN(2)),
		"SELECT COUNT(*), SUM(v) FROM t",
		fmt.Sprintf("SELECT v FROM t WHERE k = %d", m.key()), fmt.Sprintf("SELECT v FROM t WHERE k = %d", m.key()))
}

// references is a table p to whose rows those of c refer, by a key that does something if such a row is changed.
type references struct {
	sessions
	does string
}

// sessions makes what is sent in a scene whose statements lock rows of p.
type sessions interface {
	lockingRead(*maker) string
	held(*maker) script
	other(*maker) script
}

func (s references) setup(*maker) []string {
	return []string{
		"CREATE TABLE p (k INT PRIMARY KEY, v INT)",
		"CREATE TABLE c (k INT PRIMARY KEY, p INT, v INT, KEY (p), FOREIGN KEY (p) REFERENCES p (k)" + s.does + ")",
		"INSERT INTO p VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
		"INSERT INTO c VALUES (1, 1, 1), (2, 1, 2), (3, 2, 3)",
	}
}

func (s references) write(m *maker) string {
	k := m.key()
	switch m.IntN(11) {
	case 0, 1, 2:
		return fmt.Sprintf("INSERT INTO c VALUES (%d, %d, %d)", rows+m.IntN(3), k, m.value())
	case 3:
		return fmt.Sprintf("UPDATE c SET p = %d WHERE k = %d", k, 1+m.IntN(3))
	case 4:
		return fmt.Sprintf("DELETE FROM c WHERE p = %d", k)
	case 5, 6:
		return fmt.Sprintf("DELETE FROM p WHERE k = %d", k)
	case 7:
		return fmt.Sprintf("UPDATE p SET v = %d WHERE k = %d", m.value(), k)
	case 8:
		return fmt.Sprintf("UPDATE p SET k = %d WHERE k = %d", rows+1+m.IntN(2), k)
	case 9:
		return fmt.Sprintf("INSERT INTO p VALUES (%d, %d)", rows+1+m.IntN(2), m.value())
	}
	return fmt.Sprintf("UPDATE c SET v = %d WHERE p = %d", m.value(), k)
}

func (s references) read(m *maker) string {
	return m.pick("SELECT k, p, v FROM c ORDER BY k", "SELECT k, v FROM p ORDER BY k",
		fmt.Sprintf("SELECT k, v FROM c WHERE p = %d ORDER BY k", m.key()),
		fmt.Sprintf("SELECT v FROM p WHERE k = %d", m.key()))
}
