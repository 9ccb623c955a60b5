package invariant

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// triggers is a table whose triggers write a copy of it and a trail of its changes.
var triggers = Workload{
	Name: "trigger", looks: true,
	Says: "the copy that triggers keep of a table equals it, and their trail has each change once, in each snapshot and " +
		"at the end of an epoch",
	Kinds: []Opportunity{
		{AuditWrong, "read a table and what its triggers wrote while another one committed a change"},
		{Lost, "wrote and were acknowledged"},
	},
	lacks: map[history.DBMS]string{history.TiDB: "TiDB has no triggers " +
		"(https://docs.pingcap.com/tidb/stable/mysql-compatibility#unsupported-features)"},
	define: func(d *dialect) []string {
		out := []string{
			"CREATE TABLE source (id BIGINT NOT NULL PRIMARY KEY, v BIGINT NOT NULL, changes BIGINT NOT NULL, token BIGINT NOT NULL)" + d.engine,
			"CREATE TABLE mirror (id BIGINT NOT NULL PRIMARY KEY, v BIGINT NOT NULL, changes BIGINT NOT NULL, token BIGINT NOT NULL)" + d.engine,
			"CREATE TABLE trail (id BIGINT NOT NULL, n BIGINT NOT NULL, token BIGINT NOT NULL)" + d.engine,
			"CREATE INDEX by_id ON trail (id)",
		}
		if !d.postgres {
			return append(out,
				"CREATE TRIGGER born AFTER INSERT ON source FOR EACH ROW BEGIN "+
					"INSERT INTO mirror VALUES (NEW.id, NEW.v, NEW.changes, NEW.token); INSERT INTO trail VALUES (NEW.id, NEW.changes, NEW.token); END",
				"CREATE TRIGGER changed AFTER UPDATE ON source FOR EACH ROW BEGIN "+
					"UPDATE mirror SET v = NEW.v, changes = NEW.changes, token = NEW.token WHERE id = NEW.id; "+
					"INSERT INTO trail VALUES (NEW.id, NEW.changes, NEW.token); END",
				"CREATE TRIGGER gone AFTER DELETE ON source FOR EACH ROW BEGIN "+
					"DELETE FROM mirror WHERE id = OLD.id; DELETE FROM trail WHERE id = OLD.id; END")
		}
		return append(out, "CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+
			"IF TG_OP = 'DELETE' THEN DELETE FROM mirror WHERE id = OLD.id; DELETE FROM trail WHERE id = OLD.id; RETURN NULL; END IF; "+
			"IF TG_OP = 'INSERT' THEN INSERT INTO mirror VALUES (NEW.id, NEW.v, NEW.changes, NEW.token); "+
			"ELSE UPDATE mirror SET v = NEW.v, changes = NEW.changes, token = NEW.token WHERE id = NEW.id; END IF; "+
			"INSERT INTO trail VALUES (NEW.id, NEW.changes, NEW.token); RETURN NULL; END $$",
			"CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON source FOR EACH ROW EXECUTE PROCEDURE audit()")
	},
	begin: func(e *Epoch) state { return &audited{e: e, ledger: newLedger()} },
}

const sourceRows = 24

type audited struct {
	e      *Epoch
	ledger *ledger
}

func (a *audited) fill() []string {
	sql := "INSERT INTO source (id, v, changes, token) VALUES "
	for i := range int64(sourceRows) {
		if i > 0 {
			sql += ", "
		}
		sql += fmt.Sprintf("(%d, 0, 1, 0)", a.e.first+i)
		a.ledger.born(a.e.first+i, true)
	}
	return []string{sql}
}

func (a *audited) discard() (out []string) {
	for _, table := range []string{"source", "mirror", "trail"} {
		out = append(out, fmt.Sprintf("DELETE FROM %s WHERE id < %d", table, a.e.first))
	}
	return out
}

func (a *audited) transact(t *txn) {
	if t.looks || t.rand.IntN(3) == 0 {
		t.readsOnly = true
		t.within(func() error { return a.look(t) })
		return
	}
	left := a.ledger.settles(t)
	t.within(func() error {
		for range 1 + t.rand.IntN(3) {
			id, there := a.e.first+t.rand.Int64N(sourceRows), true
			sql := fmt.Sprintf("UPDATE source SET v = v + 1, changes = changes + 1, token = %d WHERE id = %d", t.token, id)
			switch t.rand.IntN(6) {
			case 0:
				sql, there = fmt.Sprintf("DELETE FROM source WHERE id = %d", id), false
			case 1:
				sql = fmt.Sprintf("INSERT INTO source (id, v, changes, token) VALUES (%d, 7, 1, %d)", id, t.token)
			}
			n, err := t.change(sql, id)
			if n > 0 {
				left[id] = there
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	sourceColumns = "x.id, x.v, x.changes, x.token"
	// audit gives of each row of the source what differs: a copy that is not the same, a trail that is too short or
	// too long, a copy of nothing.
	audit = "SELECT " + sourceColumns + ", m.v, m.changes, m.token, (SELECT COUNT(*) FROM trail t WHERE t.id = x.id) " +
		"FROM %s x LEFT JOIN %s m ON m.id = x.id WHERE %s"
)

// look compares the table with what its triggers have written.
func (a *audited) look(t *txn) error {
	before := a.e.changes.Load()
	var says []string
	var keys []int64
	if t.set.reads != PerTransaction || t.rand.IntN(2) == 0 {
		one, other := "source", "mirror"
		if t.rand.IntN(2) == 0 {
			one, other = other, one
		}
		rows, err := t.query(fmt.Sprintf(audit, one, other, between("x.id", a.e.first, a.e.last)))
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r[1] != r[4] || r[2] != r[5] || r[3] != r[6] || r[7] != r[2] {
				keys = append(keys, number(r[0]))
				says = append(says, fmt.Sprintf("%s: id, v, changes, token; of table %s: v, changes, token; rows of table trail: %s",
					one, other, spellRow(r)))
			}
		}
	} else {
		order := []string{"source", "mirror", "trail"}
		t.rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		rows := map[string][][]history.Cell{}
		for _, table := range order {
			sql := "SELECT " + sourceColumns + " FROM " + table + " x WHERE " + between("x.id", a.e.first, a.e.last)
			if table == "trail" {
				sql = "SELECT x.id, COUNT(*) FROM trail x WHERE " + between("x.id", a.e.first, a.e.last) + " GROUP BY x.id"
			}
			var err error
			if rows[table], err = t.query(sql); err != nil {
				return err
			}
		}
		says, keys = auditOf(rows)
	}
	if t.set.reads == Unpromised {
		return nil
	}
	if a.e.changes.Load() > before {
		t.meets(AuditWrong)
	}
	if len(says) > 0 {
		v := violation(AuditWrong, keys, "one snapshot shows a table and what its triggers wrote differently")
		v.Says = append(v.Says, says[:min(len(says), rowsShown)]...)
		t.violates(v)
	}
	return nil
}

// auditOf compares source and mirror (id, v, changes, token) and the numbers of rows of trail (id, count).
func auditOf(rows map[string][][]history.Cell) (says []string, keys []int64) {
	only, other := difference(rows["source"], rows["mirror"])
	for i, list := range [][][]history.Cell{only, other} {
		for _, r := range list {
			says = append(says, fmt.Sprintf("only table %s has (id, v, changes, token) %s", []string{"source", "mirror"}[i], spellRow(r)))
			keys = append(keys, number(r[0]))
		}
	}
	count := map[int64]int64{}
	for _, r := range rows["trail"] {
		count[number(r[0])] = number(r[1])
	}
	for _, r := range rows["source"] {
		if n := count[number(r[0])]; n != number(r[2]) {
			says = append(says, fmt.Sprintf("row %s of table source was changed %s times and has %d rows in table trail", r[0].Text, r[2].Text, n))
			keys = append(keys, number(r[0]))
		}
		delete(count, number(r[0]))
	}
	for id, n := range count {
		says = append(says, fmt.Sprintf("table trail has %d rows of row %d, which is not there", n, id))
		keys = append(keys, id)
	}
	slices.Sort(says)
	return says, keys
}

func (a *audited) finish(r *reader) ([]Violation, error) {
	rows := map[string][][]history.Cell{}
	err := r.snapshot(func() (err error) {
		for table, what := range map[string]string{"source": sourceColumns, "mirror": sourceColumns, "trail": "x.id, COUNT(*)"} {
			sql := "SELECT " + what + " FROM " + table + " x WHERE " + between("x.id", a.e.first, a.e.last)
			if table == "trail" {
				sql += " GROUP BY x.id"
			}
			if rows[table], err = r.conn.Query(sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []Violation
	if says, keys := auditOf(rows); len(says) > 0 {
		v := violation(AuditWrong, keys, "at the end of the epoch a table and what its triggers wrote differ")
		v.Says = append(v.Says, says[:min(len(says), rowsShown)]...)
		out = append(out, v)
	}
	shown := map[int64]int64{}
	for _, row := range rows["source"] {
		shown[number(row[0])] = number(row[3])
	}
	return append(out, a.ledger.judge("source", shown)...), nil
}
