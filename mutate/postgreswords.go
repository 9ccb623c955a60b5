package mutate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// Out of 256.
const (
	// ownWordsOdds is how often a case has words of PostgreSQL's own, ownStatementOdds how often each statement of it
	// that can have some does.
	ownWordsOdds, ownStatementOdds = 140, 110
	// ownConstraintOdds is how often a table of such a case has an index or a constraint that only PostgreSQL has.
	// The rules have no model of these, so that the case is judged by promise.
	ownConstraintOdds = 24
	// twoPhaseOdds is how often a COMMIT of such a case becomes one in two phases, lostPhaseOdds how often the second
	// takes the first one back, advisoryOdds how often the sessions take advisory locks, notifyOdds how often they listen
	// and notify, sequenceOdds how often they draw from a sequence.
	twoPhaseOdds, lostPhaseOdds, advisoryOdds, notifyOdds, sequenceOdds = 14, 60, 14, 13, 13
	// deferrableOdds is how often such a case has a transaction more at SERIALIZABLE, which waits for a safe snapshot,
	// tooLateOdds how often that tries to set its modes behind the snapshot.
	deferrableOdds, tooLateOdds = 24, 20
	// partnerOdds is how often an UPDATE or DELETE of such a case goes by the rows of another table, where there is one.
	partnerOdds = 100
	// placeOdds is how often a statement of such a case that finds its row by the primary key finds it by its place.
	placeOdds = 24
	// chainOdds is how often a transaction of such a case ends in the middle, with AND CHAIN, and chainRollbackOdds how
	// often that is a ROLLBACK.
	chainOdds, chainRollbackOdds = 14, 80
)

// firstMerge is the version of PostgreSQL that brought MERGE.
// https://www.postgresql.org/docs/release/15.0/
const firstMerge = 15

// firstChain is the version of PostgreSQL that brought COMMIT AND CHAIN.
// https://www.postgresql.org/docs/release/12.0/
const firstChain = 12

// firstPlaces is the first version of PostgreSQL of which a release checks a row's place again behind a wait.
// https://www.postgresql.org/docs/release/13.23/
const firstPlaces = 13

// PostgresWords returns a copy of a case with clauses, statements, indexes and constraints that only PostgreSQL has, in
// the words of its version major, or the case itself. Statements are raw then: what they touch stands before them. With
// prepares a transaction may be committed in two phases. The choices are those of a generator with the seed.
func PostgresWords(c *corpus.Case, seed uint64, major int, prepares bool) *corpus.Case {
	g := splitMix(seed)
	w := &ownWords{c: random(&g), major: major, tables: map[string]*ownTable{}}
	if !w.c.odds(ownWordsOdds) {
		return c
	}
	out := &corpus.Case{Header: slices.Clone(c.Header), Init: w.setUp(c.Init), Steps: slices.Clone(c.Steps), Tail: c.Tail}
	for i := range out.Steps {
		if w.c.odds(ownStatementOdds) {
			if s := w.statement(out.Steps[i].Stmt); s != nil {
				out.Steps[i].Stmt = s
			}
		}
	}
	if w.c.odds(advisoryOdds) {
		w.advisory(out)
	}
	if prepares && w.c.odds(twoPhaseOdds) {
		w.twoPhase(out)
	}
	if len(w.constraints) > 0 {
		w.setConstraints(out)
	}
	if major >= firstChain && w.c.odds(chainOdds) {
		w.chain(out)
	}
	if w.c.odds(deferrableOdds) {
		w.deferrable(out)
	}
	if w.c.odds(notifyOdds) { // behind all other choices, which stay as they are
		w.notify(out)
	}
	if w.c.odds(sequenceOdds) {
		w.sequence(out)
	}
	return out
}

// twoPhase has one COMMIT prepare its transaction, which somebody ends a while later.
func (w *ownWords) twoPhase(of *corpus.Case) {
	var commits []int
	for i, l := range of.Steps {
		if stmt.KindOf(l.Stmt) == stmt.Commit {
			commits = append(commits, i)
		}
	}
	if len(commits) == 0 {
		return
	}
	const name = "p"
	at := oneOf(w.c, commits)
	by := of.Steps[at].Session
	of.Steps[at].Stmt = &stmt.PreparedStmt{Does: stmt.Prepare, Name: name}
	end := &stmt.PreparedStmt{Does: stmt.CommitPrepared, Name: name}
	if w.c.odds(lostPhaseOdds) {
		end.Does = stmt.RollbackPrepared
	}
	at++
	if w.c.odds(170) { // another session, which is in no transaction
		by = slices.Max(of.Sessions()) + 1
		at = min(at+w.c.below(5), len(of.Steps))
	}
	of.Steps = slices.Insert(of.Steps, at, corpus.Line{Session: by, Stmt: end})
}

var advisoryFunctions = []weighted[string]{
	{40, "pg_advisory_xact_lock"}, {15, "pg_advisory_xact_lock_shared"}, {20, "pg_try_advisory_xact_lock"},
	{10, "pg_advisory_lock"}, {10, "pg_advisory_unlock"}, {5, "pg_try_advisory_lock_shared"},
}

// advisory has sessions take and give back advisory locks of two keys.
func (w *ownWords) advisory(of *corpus.Case) {
	for range 2 + w.c.below(3) {
		at := w.c.below(len(of.Steps)) + 1
		s := &stmt.AdvisoryStmt{Function: pick(w.c, advisoryFunctions), Keys: []int64{int64(1 + w.c.below(2))}}
		of.Steps = slices.Insert(of.Steps, at, corpus.Line{Session: of.Steps[at-1].Session, Stmt: s})
	}
}

// notify has sessions listen and notify. Most listen from the beginning.
func (w *ownWords) notify(of *corpus.Case) {
	sessions := of.Sessions()
	add := func(at, session int, s *stmt.NotifyStmt) {
		s.Channel = oneOf(w.c, []string{"c", "c", "c", "d"})
		of.Steps = slices.Insert(of.Steps, at, corpus.Line{Session: session, Stmt: s})
	}
	within := func(s *stmt.NotifyStmt) {
		at := w.c.below(len(of.Steps)) + 1
		add(at, of.Steps[at-1].Session, s)
	}
	for range 2 + w.c.below(3) {
		s := &stmt.NotifyStmt{Does: stmt.Notify, Called: w.c.odds(90)}
		if s.Called || w.c.odds(200) {
			s.Payload = oneOf(w.c, []string{"x", "y", "z"})
		}
		within(s)
	}
	if w.c.odds(60) {
		within(&stmt.NotifyStmt{Does: stmt.Unlisten})
	}
	for range 1 + w.c.below(3) {
		s := &stmt.NotifyStmt{Does: stmt.Listen}
		switch {
		case w.c.odds(80):
			within(s)
		case w.c.odds(80): // one that does nothing else
			add(w.c.below(len(of.Steps)), slices.Max(sessions)+1, s)
		default:
			add(0, oneOf(w.c, sessions), s)
		}
	}
}

// sequence has sessions draw from a sequence and ask for what they have drawn.
func (w *ownWords) sequence(of *corpus.Case) {
	made := &stmt.SequenceStmt{Name: "seq"}
	if w.c.odds(40) {
		made.Cache = 2 + w.c.below(3)
	}
	of.Init = append(slices.Clone(of.Init), corpus.Line{Stmt: made})
	for range 3 + w.c.below(4) {
		s := &stmt.SequenceStmt{Function: pick(w.c, sequenceFunctions)}
		if s.Function != "lastval" {
			s.Name = made.Name
		}
		at := w.c.below(len(of.Steps)) + 1
		of.Steps = slices.Insert(of.Steps, at, corpus.Line{Session: of.Steps[at-1].Session, Stmt: s})
	}
}

var sequenceFunctions = []weighted[string]{{70, "nextval"}, {20, "currval"}, {10, "lastval"}}

type ownWords struct {
	c      *choices
	major  int
	tables map[string]*ownTable
	// constraints holds the names of the DEFERRABLE constraints.
	constraints []string
}

// ownTable is what has to be known of a table, whose name needs no quotes: its columns, those of its primary key, and
// the rows that fill it, as texts by column.
type ownTable struct {
	name    string
	columns []string
	// types holds those of the columns, as MySQL has them.
	types []byte
	key   []string
	rows  [][]string
}

// setUp reads the tables, and adds indexes and constraints behind them.
func (w *ownWords) setUp(init []corpus.Line) (out []corpus.Line) {
	for _, l := range init {
		if s, ok := l.Stmt.(*ast.InsertStmt); ok {
			w.filled(s)
		}
		s, ok := l.Stmt.(*ast.CreateTableStmt)
		if ok && s.Select == nil && s.ReferTable == nil && pgsql.Name(s.Table.Name.O) == s.Table.Name.O {
			w.tables[s.Table.Name.L] = tableOf(s)
		}
	}
	for _, l := range init {
		out = append(out, l)
		if s, ok := l.Stmt.(*ast.CreateTableStmt); ok {
			if def := w.definition(w.tables[s.Table.Name.L]); def != nil && w.c.odds(ownConstraintOdds) {
				out = append(out, corpus.Line{Stmt: def})
				if name := deferrableIn(def); name != "" {
					w.constraints = append(w.constraints, name)
				}
			}
		}
	}
	return out
}

func tableOf(s *ast.CreateTableStmt) *ownTable {
	t := &ownTable{name: s.Table.Name.O}
	for _, col := range s.Cols {
		t.columns, t.types = append(t.columns, col.Name.Name.O), append(t.types, col.Tp.GetType())
		if slices.ContainsFunc(col.Options, func(o *ast.ColumnOption) bool { return o.Tp == ast.ColumnOptionPrimaryKey }) {
			t.key = append(t.key, col.Name.Name.O)
		}
	}
	for _, k := range s.Constraints {
		if k.Tp == ast.ConstraintPrimaryKey {
			for _, part := range k.Keys {
				if part.Column != nil {
					t.key = append(t.key, part.Column.Name.O)
				}
			}
		}
	}
	return t
}

// filled keeps the rows of an INSERT that names no columns.
func (w *ownWords) filled(s *ast.InsertStmt) {
	source := stmt.Of(s).Table()
	if source == nil || w.tables[source.Name.L] == nil {
		return
	}
	t := w.tables[source.Name.L]
	for _, list := range s.Lists {
		row := make([]string, len(list))
		for i, e := range list {
			row[i], _ = pgsql.Expr(e)
		}
		if len(s.Columns) > 0 || len(row) != len(t.columns) {
			row = nil // whatever it holds, no column is known to have different values
		}
		t.rows = append(t.rows, row)
	}
}

// different reports whether the rows that fill a table differ in a column.
func (t *ownTable) different(column int) bool {
	seen := map[string]bool{}
	for _, row := range t.rows {
		if row == nil || seen[row[column]] {
			return false
		}
		seen[row[column]] = true
	}
	return true
}

// ownDefinitions are indexes and constraints of PostgreSQL: %[1]s is the table, %[2]s a column in whose values its rows
// differ, %[3]s another column.
var ownDefinitions = []weighted[string]{
	{25, "CREATE UNIQUE INDEX ON %[1]s (%[2]s) WHERE %[3]s IS NOT NULL"},
	{20, "CREATE UNIQUE INDEX ON %[1]s ((COALESCE(%[2]s, %[2]s)))"},
	{15, "CREATE INDEX ON %[1]s (%[2]s) WHERE %[2]s IS NOT NULL"},
	{15, "ALTER TABLE %[1]s ADD EXCLUDE (%[2]s WITH =)"},
	{15, "ALTER TABLE %[1]s ADD CONSTRAINT %[1]s_deferrable UNIQUE (%[2]s) DEFERRABLE INITIALLY DEFERRED"},
	{10, "ALTER TABLE %[1]s ADD CONSTRAINT %[1]s_deferrable UNIQUE (%[2]s) DEFERRABLE"},
}

func (w *ownWords) definition(t *ownTable) ast.StmtNode {
	if t == nil {
		return nil
	}
	var free []int
	for i := range t.columns {
		if t.different(i) && !slices.Contains(t.key, t.columns[i]) {
			free = append(free, i)
		}
	}
	if len(free) == 0 {
		return nil
	}
	column, other := oneOf(w.c, free), w.c.below(len(t.columns))
	return t.raw(fmt.Sprintf(pick(w.c, ownDefinitions), t.name, pgsql.Name(t.columns[column]), pgsql.Name(t.columns[other])))
}

// raw is a statement in PostgreSQL's words that touches the table and no other one.
func (t *ownTable) raw(sql string) *stmt.RawStmt {
	s := &stmt.RawStmt{SQL: sql}
	s.Touch(s.Words(), map[string]bool{t.name: true})
	if s.Defines() {
		s.Writes = s.Reads
	}
	return s
}

// statement says what a statement of one table does in words of PostgreSQL's own; nil where it has none for that.
func (w *ownWords) statement(n ast.StmtNode) ast.StmtNode {
	v := stmt.Of(n)
	name := v.Table()
	if name == nil || v.Limit != nil || v.Order != nil || v.Ignore || w.tables[name.Name.L] == nil || corpus.QueriesWithin(n) {
		return nil
	}
	t := w.tables[name.Name.L]
	sql, err := corpus.Format(n, corpus.PostgreSQL)
	// In a case, # begins a comment.
	if err != nil || strings.ContainsAny(sql, ";\\\n#") {
		return nil
	}
	if v.Lock.Wait == stmt.Waits && w.major >= firstPlaces {
		if place := t.byPlace(sql); place != "" && w.c.odds(placeOdds) {
			return t.raw(place)
		}
	}
	switch s := n.(type) {
	case *ast.SelectStmt:
		return w.locking(t, sql, v.Lock)
	case *ast.UpdateStmt:
		if !v.Several {
			return w.joined(t, true, sql)
		}
	case *ast.DeleteStmt:
		if !v.Several {
			return w.joined(t, false, sql)
		}
	case *ast.InsertStmt:
		return w.insert(t, s, sql)
	}
	return nil
}

var byKey = regexp.MustCompile(`^((?:UPDATE|DELETE|SELECT) .*) WHERE (\w+) = ('[^']*'|-?[0-9.]+)(| FOR UPDATE| FOR SHARE)$`)

// byPlace is a write or a locking read of one row, which its primary key names, that goes to the place in which the row
// lies; "" for any other statement.
func (t *ownTable) byPlace(sql string) string {
	m := byKey.FindStringSubmatch(sql)
	if m == nil || len(t.key) != 1 || m[2] != pgsql.Name(t.key[0]) || strings.HasPrefix(sql, "SELECT") && m[4] == "" {
		return ""
	}
	return fmt.Sprintf("%s WHERE ctid = (SELECT x.ctid FROM %s AS x WHERE x.%s = %s)%s", m[1], t.name, m[2], m[3], m[4])
}

// locking gives a locking read one of the modes that only PostgreSQL has.
// https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS
func (w *ownWords) locking(t *ownTable, sql string, lock stmt.Lock) ast.StmtNode {
	for was, is := range map[string]string{" FOR UPDATE": " FOR NO KEY UPDATE", " FOR SHARE": " FOR KEY SHARE"} {
		if head, ok := strings.CutSuffix(sql, was); ok && lock.Wait == stmt.Waits {
			return t.raw(head + is)
		}
	}
	return nil
}

var returned = []weighted[string]{{60, "*"}, {25, "%s"}, {15, "%s, 1"}}

// returning has a write answer with the rows that it wrote.
func (w *ownWords) returning(t *ownTable, sql string) ast.StmtNode {
	what := pick(w.c, returned)
	if strings.Contains(what, "%s") {
		what = fmt.Sprintf(what, pgsql.Name(oneOf(w.c, t.columns)))
	}
	sql += " RETURNING " + what
	if w.c.odds(8) {
		sql = "WITH w AS (" + sql + ") SELECT COUNT(*) FROM w"
	}
	return t.raw(sql)
}

// insert has an INSERT of values answer with its rows, or change the row that is in its way.
func (w *ownWords) insert(t *ownTable, s *ast.InsertStmt, sql string) ast.StmtNode {
	var others []string
	for _, col := range t.columns {
		if !slices.Contains(t.key, col) {
			others = append(others, pgsql.Name(col))
		}
	}
	// Of several rows in an upsert that waits nobody says which it met before, and which behind.
	if len(t.key) == 0 || len(others) == 0 || w.c.odds(90) || len(s.Lists) > 1 && w.c.odds(240) {
		return w.returning(t, sql)
	}
	key := make([]string, len(t.key))
	for i, col := range t.key {
		key[i] = pgsql.Name(col)
	}
	set := oneOf(w.c, others)
	_, values, plain := strings.Cut(sql, " VALUES ")
	if plain && len(s.Columns) == 0 && w.major >= firstMerge && w.c.odds(60) {
		return t.raw(mergeInto(t, key, set, values))
	}
	sql += fmt.Sprintf(" ON CONFLICT (%s) DO UPDATE SET %s = EXCLUDED.%s", strings.Join(key, ", "), set, set)
	if w.c.odds(60) {
		sql += fmt.Sprintf(" WHERE %s.%s IS NOT NULL", t.name, oneOf(w.c, others))
	}
	if w.c.odds(90) {
		return w.returning(t, sql)
	}
	return t.raw(sql)
}

// mergeInto is an upsert by MERGE, which unlike ON CONFLICT may fail when two sessions insert the same key.
// https://www.postgresql.org/docs/current/sql-merge.html
func mergeInto(t *ownTable, key []string, set, values string) string {
	columns := make([]string, len(t.columns))
	given := make([]string, len(t.columns))
	for i, col := range t.columns {
		columns[i] = pgsql.Name(col)
		given[i] = "s." + columns[i]
	}
	same := make([]string, len(key))
	for i, k := range key {
		same[i] = t.name + "." + k + " = s." + k
	}
	return fmt.Sprintf("MERGE INTO %s USING (VALUES %s) AS s (%s) ON %s "+
		"WHEN MATCHED THEN UPDATE SET %s = s.%s WHEN NOT MATCHED THEN INSERT VALUES (%s)",
		t.name, values, strings.Join(columns, ", "), strings.Join(same, " AND "), set, set, strings.Join(given, ", "))
}
