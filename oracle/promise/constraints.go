package promise

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// constraintsBefore returns the steps of the SET CONSTRAINTS that hold for a statement of a transaction: those that were
// carried out before it, but for what was undone by ROLLBACK TO a savepoint.
// https://www.postgresql.org/docs/current/sql-set-constraints.html
func (j *judge) constraintsBefore(e *event) (steps []int) {
	type mark struct {
		name string
		set  int
	}
	var saved []mark
	for _, x := range e.unit.events {
		if x.index >= e.index {
			break
		}
		if x.st.Result.Err != nil {
			continue
		}
		name := savepointName(x)
		at := len(saved) - 1
		for at >= 0 && saved[at].name != name {
			at--
		}
		switch {
		case x.kind == stmt.SetConstraints:
			steps = append(steps, x.st.Line)
		case x.kind == stmt.Savepoint:
			saved = append(saved, mark{name, len(steps)})
		case at >= 0 && x.kind == stmt.RollbackTo:
			steps, saved = steps[:saved[at].set], saved[:at+1]
		case at >= 0 && x.kind == stmt.ReleaseSavepoint:
			saved = saved[:at]
		}
	}
	return steps
}

// checksNow is a SET CONSTRAINTS. IMMEDIATE checks at once what was deferred, among the newest rows and its own, and
// fails if a key is there twice.
func (j *judge) checksNow(e *event, w world, o own) ([]world, error) {
	s, failed := e.node.(*stmt.ConstraintsStmt), e.st.Result.Err
	switch {
	case j.retryable(failed):
		return []world{w}, nil
	case failed != nil && !OfConstraint(failed):
		return nil, unjudgedError("a SET CONSTRAINTS that fails otherwise than by a constraint")
	}
	keys, all := j.deferrable(s)
	always, never := true, true // that a key is there twice
	for _, k := range span(w.ended(e.st.Submit), w.newest()) {
		rows, err := j.sight(w.committed[k], o)
		if err != nil {
			return nil, err
		}
		twice := slices.ContainsFunc(keys, func(d deferrableKey) bool { return sharing(rows[d.table], d.columns) != "" })
		always, never = always && twice, never && !twice
	}
	m := &mismatch{e: e, actual: history.Describe(e.kind, &e.st.Result),
		reason: "SET CONSTRAINTS checks at once what was deferred, among the newest rows and those of its transaction: " +
			"https://www.postgresql.org/docs/current/sql-set-constraints.html"}
	switch {
	case failed == nil && always && !s.Deferred:
		m.kind, m.expected = "missing-error", "error 23505, since a key is there twice"
		return nil, m
	case failed != nil && (s.Deferred || never && all):
		m.kind, m.expected = "unexpected-error", "no error, since no key is there twice"
		return nil, m
	}
	return []world{w}, nil
}

// deferrableKey is a DEFERRABLE unique key of whole numbers.
type deferrableKey struct {
	table   int
	columns []int
}

// deferrable returns the DEFERRABLE keys of a case that a statement names; all says that these are all DEFERRABLE
// constraints that it may mean.
func (j *judge) deferrable(s *stmt.ConstraintsStmt) (keys []deferrableKey, all bool) {
	all = true
	for _, l := range j.c.Init {
		raw, ok := l.Stmt.(*stmt.RawStmt)
		if !ok {
			continue
		}
		words := raw.Words()
		at := slices.Index(words, "deferrable")
		if at < 0 || words[at-1] == "not" {
			continue
		}
		switch name, key, ok := j.deferrableIn(words); {
		case len(s.Names) > 0 && name != "" && !slices.Contains(s.Names, name):
		case !ok, len(s.Names) > 0 && name == "":
			all = false
		default:
			keys = append(keys, key)
		}
	}
	return keys, all
}

// deferrableIn reads the words of ALTER TABLE … ADD [CONSTRAINT name] UNIQUE (…) DEFERRABLE [INITIALLY …]; the name is
// empty where it gives none.
func (j *judge) deferrableIn(words []string) (name string, key deferrableKey, ok bool) {
	if len(words) < 5 || words[0] != "alter" || words[1] != "table" || words[3] != "add" {
		return "", key, false
	}
	key.table = j.layout.table(words[2])
	rest := words[4:]
	if len(rest) > 2 && rest[0] == "constraint" {
		name, rest = rest[1], rest[2:]
	}
	if key.table < 0 || len(rest) < 3 || rest[0] != "unique" || rest[1] != "(" {
		return name, key, false
	}
	sh := &j.layout[key.table]
	def := j.defs[strings.ToLower(sh.name)]
	closed := slices.Index(rest, ")")
	if closed < 0 || def == nil {
		return name, key, false
	}
	for i, column := range rest[2:closed] {
		if i%2 == 1 {
			if column != "," {
				return name, key, false
			}
			continue
		}
		at := slices.IndexFunc(sh.columns, func(c string) bool { return strings.EqualFold(c, column) })
		if at < 0 || !wholeNumbers(def, strings.ToLower(sh.columns[at])) {
			return name, key, false
		}
		key.columns = append(key.columns, at)
	}
	switch strings.Join(rest[closed+1:], " ") {
	case "deferrable", "deferrable initially deferred", "deferrable initially immediate":
		return name, key, true
	}
	return name, key, false
}
