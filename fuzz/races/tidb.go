package races

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// onTiDB draws a scene of TiDB.
func onTiDB(m *maker) scene {
	if m.IntN(4) > 0 {
		return rowsOfTiDB{}
	}
	s := references{tidbScene{}, m.pick("", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON UPDATE CASCADE",
		" ON UPDATE CASCADE", " ON UPDATE SET NULL")}
	if m.IntN(2) == 0 {
		return s
	}
	return referencesToUnique{s}
}

// referencesToUnique is references to a unique key that is not the primary one: TiDB locks the entry of the key and the
// row each on its own.
type referencesToUnique struct{ references }

func (s referencesToUnique) setup(*maker) []string {
	return []string{
		"CREATE TABLE p (k INT PRIMARY KEY, v INT, u INT, UNIQUE KEY (u))",
		"CREATE TABLE c (k INT PRIMARY KEY, p INT, v INT, KEY (p), FOREIGN KEY (p) REFERENCES p (u)" + s.does + ")",
		"INSERT INTO p VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4)",
		"INSERT INTO c VALUES (1, 1, 1), (2, 1, 2), (3, 2, 3)",
	}
}

func (s referencesToUnique) write(m *maker) string {
	k := m.key()
	switch m.IntN(9) {
	case 0, 1, 2:
		return fmt.Sprintf("UPDATE p SET u = %d WHERE k = %d", rows+1+m.IntN(2), k)
	case 3:
		return fmt.Sprintf("UPDATE p SET u = %d WHERE u = %d", rows+1+m.IntN(2), k)
	case 4:
		return fmt.Sprintf("INSERT INTO p VALUES (%[1]d, %[2]d, %[1]d)", rows+1+m.IntN(2), m.value())
	case 5:
		return fmt.Sprintf("DELETE FROM p WHERE u = %d", k)
	}
	for {
		if sql := s.references.write(m); !strings.HasPrefix(sql, "INSERT INTO p") {
			return sql
		}
	}
}

// tidbScene is what TiDB's scenes have in common.
type tidbScene struct{ onMySQL }

// forUpdate is the only lock of a row that TiDB has: it takes LOCK IN SHARE MODE for an error.
const forUpdate = " FOR UPDATE"

// rowsOfTiDB is the table of MySQL's cases.
type rowsOfTiDB struct{ tidbScene }

// lockingRead comes to its rows by each kind of key, and to one or several.
func (rowsOfTiDB) lockingRead(m *maker) string {
	k := m.key()
	return m.pick(
		fmt.Sprintf("SELECT k, v FROM t WHERE k = %d", k), fmt.Sprintf("SELECT k, v FROM t WHERE k = %d", k),
		fmt.Sprintf("SELECT k, v FROM t WHERE u = %d", 10*k), fmt.Sprintf("SELECT k, v FROM t WHERE u = %d", 50+m.IntN(2)),
		fmt.Sprintf("SELECT k, v FROM t WHERE s = %d", m.IntN(3)),
		fmt.Sprintf("SELECT k, v FROM t WHERE k IN (%d, %d)", k, 1+m.IntN(rows+1)),
		"SELECT k, v FROM t") + forUpdate
}

func (s rowsOfTiDB) write(m *maker) string {
	k := m.key()
	switch m.IntN(12) {
	case 0:
		return fmt.Sprintf("UPDATE t SET v = v + %d WHERE u = %d", m.value(), 10*k)
	case 1:
		return fmt.Sprintf("UPDATE t SET v = v + %d WHERE k IN (%d, %d)", m.value(), k, 1+m.IntN(rows+1))
	case 2:
		return fmt.Sprintf("UPDATE t SET k = %d WHERE k = %d", rows+1+m.IntN(2), k)
	case 3:
		return fmt.Sprintf("INSERT IGNORE INTO t VALUES (%d, %d, %d, 1)", rows+m.IntN(2), m.value(), 50+m.IntN(2))
	case 4:
		return fmt.Sprintf("DELETE FROM t WHERE u = %d", 10*k)
	}
	return s.onMySQL.write(m)
}

// lockingRead locks rows of the table that is referred to.
func (tidbScene) lockingRead(m *maker) string {
	return fmt.Sprintf("SELECT k, v FROM p WHERE k = %d", m.key()) + forUpdate
}

// atEach holds the statement at each request that it was recorded to make: they are few.
func (s *search) atEach(ctx context.Context) error {
	last := ""
	for i := range s.trail.Len() {
		o, err := s.holdAt(ctx, i)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if o != "" && last != "" && o != last {
			s.memory.changed(s.shape, s.trail.At(i))
		}
		if o != "" {
			last = o
		}
	}
	return nil
}

// between are the cases in which the statement comes, unheld, between two of those that the hold lets run.
func (r *raced) between() (out []*corpus.Case) {
	until := r.until
	if until < 0 {
		until = len(r.c.Steps) - 1
	}
	for at := r.held + 1; at < until; at++ {
		if r.c.Steps[at].Session == r.c.Steps[r.held].Session {
			break // what its own session sends later cannot come before it
		}
		c := *r.c
		c.Steps = slices.Insert(slices.Delete(slices.Clone(r.c.Steps), r.held, r.held+1), at, r.c.Steps[r.held])
		out = append(out, &c)
	}
	return out
}
