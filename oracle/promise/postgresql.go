package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	pm "github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// unsettledWords are functions of PostgreSQL whose values another session, or the same one a moment later, does not get.
// Words that begin with pg_ or txid_ are some, too.
// https://www.postgresql.org/docs/current/functions.html
var unsettledWords = map[string]bool{
	"random": true, "random_normal": true, "setseed": true, "gen_random_uuid": true, "uuidv4": true, "uuidv7": true,
	"clock_timestamp": true, "statement_timestamp": true, "transaction_timestamp": true, "timeofday": true,
	"current_setting": true, "set_config": true, "currval": true, "tablesample": true, "inet_client_port": true,
}

// orderedWords make an answer depend on the order in which a server comes to rows. So do aggregates that make a list, in
// whose names agg stands.
var orderedWords = map[string]bool{
	"array": true, "over": true, "offset": true, "any_value": true, "json_array": true, "mode": true,
	// They compute with floating-point numbers, whatever they are given.
	"corr": true, "covar_pop": true, "covar_samp": true, "regr_avgx": true, "regr_avgy": true, "regr_intercept": true,
	"regr_r2": true, "regr_slope": true, "regr_sxx": true, "regr_sxy": true, "regr_syy": true,
}

// undeterminedHere is undetermined for what a raw statement of PostgreSQL may hold.
func undeterminedHere(raw *stmt.RawStmt) string {
	if found := raw.ByCondition(); found != nil { // where rows lie decides nothing beside others
		raw = found
	}
	words := raw.Words()
	for i, w := range words {
		switch {
		case unsettledWords[w], stmt.SystemColumn(w), strings.HasPrefix(w, "pg_"), strings.HasPrefix(w, "txid_"):
			return "a value that is not one of the rows"
		case orderedWords[w], strings.Contains(w, "agg"), w == "on" && i > 0 && words[i-1] == "distinct":
			return "the order of rows"
		case w == "from" && words[0] == "update" && !withinExpression(words[:i]) && raw.Matches() == "":
			return anyMatch
		}
	}
	return ""
}

// anyMatch is why an UPDATE … FROM is not judged that finds a row together with several others.
const anyMatch = "UPDATE with FROM, which takes any of the rows that match"

// withinExpression says that FROM, behind some words, begins no clause: that of IS DISTINCT FROM and EXTRACT does not.
func withinExpression(before []string) bool {
	n := len(before)
	return n > 0 && before[n-1] == "distinct" || n > 2 && before[n-2] == "(" && before[n-3] == "extract"
}

// rawByOrder says that what a raw statement of PostgreSQL does may depend on the order in which it comes to rows: of
// several with one key it keeps or changes one.
func rawByOrder(raw *stmt.RawStmt) bool {
	return slices.ContainsFunc(raw.Words(), func(w string) bool { return w == "conflict" || w == "merge" || w == "using" })
}

// sumsFloats says that a query adds up floating-point numbers, or takes their mean: the result depends on the order.
func (j *judge) sumsFloats(n ast.Node) bool {
	sums := func(name string) bool { return slices.Contains(summing, strings.ToLower(name)) }
	return j.hasColumn(func(c *ast.ColumnDef) bool {
		return c.Tp.GetType() == pm.TypeDouble || c.Tp.GetType() == pm.TypeFloat
	}) && corpus.Contains(n, func(n ast.Node) (found, skip bool) {
		switch x := n.(type) {
		case *ast.AggregateFuncExpr:
			found = sums(x.F)
		case *stmt.RawStmt:
			found = slices.ContainsFunc(x.Words(), sums)
		}
		return found, false
	})
}

// takesEqual says that a query takes one of several numbers that are equal and may be written differently, 1.0 and 1.00 or
// 0 and -0: which one depends on the order of rows.
func (j *judge) takesEqual(n ast.Node) bool {
	return stmt.TakesEqual(n) && (stmt.NamesLooseType(n) || j.hasColumn(func(c *ast.ColumnDef) bool {
		return c.Tp.GetType() == pm.TypeDouble || c.Tp.GetType() == pm.TypeFloat
	}))
}

// summing are aggregates that add up what they are given.
// https://www.postgresql.org/docs/current/functions-aggregate.html
var summing = []string{
	"sum", "avg", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp",
}

// keepsFirst says that of several rows with one key an INSERT keeps the one that it comes to first.
func keepsFirst(n ast.StmtNode) bool {
	s, ok := n.(*ast.InsertStmt)
	return ok && s.IgnoreErr && s.Select != nil
}

// upserts says that a statement looks keys up, which it does among the newest rows.
func upserts(n ast.StmtNode) bool {
	if raw, ok := n.(*stmt.RawStmt); ok {
		return slices.Contains(raw.Words(), "conflict")
	}
	s, ok := n.(*ast.InsertStmt)
	return ok && s.IgnoreErr
}

// errReadOnly is PostgreSQL's of a write in a transaction that only reads.
const errReadOnly = 25006

// throughNewest says that PostgreSQL may carry out a write of a snapshot's transaction in part on the newest rows, where
// that matters: an upsert looks its keys up there, and a cascade goes by them. did is what the write does on some
// commits. It costs a question.
func (j *judge) throughNewest(e *event, w *world, o own, commits int, did write) (bool, error) {
	upsert, cascades := upserts(e.node), j.hidden.keys
	if !e.unit.promise.SnapshotAtFirst || commits == w.newest() || !e.writes() || !upsert && !cascades {
		return false, nil
	}
	_, _, newest, err := j.does(e, w, o, w.newest())
	if err != nil {
		return false, err
	}
	for i := range j.layout {
		for key := range did[i] {
			_, shown := w.committed[commits][i][key]
			_, there := w.committed[w.newest()][i][key]
			if upsert && shown && !there { // it has made a row there, beside the one that its snapshot shows
				return true, nil
			}
		}
		if !upsert && e.mayName(j, i) && !j.refersToItself(i) {
			continue
		}
		one, other := j.layout.nothing(), j.layout.nothing()
		one[i], other[i] = did[i], newest[i]
		if j.layout.text(one) != j.layout.text(other) {
			return true, nil
		}
	}
	return false, nil
}

// refersToItself says that a cascade may write a table of the statement itself.
func (j *judge) refersToItself(table int) bool { return j.isOwnParent(j.layout[table]) }

// isOwnParent says that a foreign key of a table refers to the table.
func (j *judge) isOwnParent(sh shape) bool {
	name := strings.ToLower(sh.name)
	if def := j.defs[name]; def != nil && corpus.Contains(def, func(n ast.Node) (found, skip bool) {
		r, ok := n.(*ast.ReferenceDef)
		return ok && r.Table != nil && r.Table.Name.L == name, false
	}) {
		return true
	}
	return slices.ContainsFunc(j.c.Init, func(l corpus.Line) bool {
		raw, ok := l.Stmt.(*stmt.RawStmt)
		if !ok {
			return false
		}
		words := raw.Words()
		at := slices.Index(words, "references")
		return at >= 0 && at+1 < len(words) && words[at+1] == name && slices.Contains(words[:at], name)
	})
}

// mayName says whether a write may name a table. What else it writes, a cascade or a trigger does.
func (e *event) mayName(j *judge, table int) bool {
	if raw, ok := e.node.(*stmt.RawStmt); ok {
		return slices.ContainsFunc(raw.Writes, func(n *ast.TableName) bool { return j.layout.table(n.Name.O) == table })
	}
	named := j.named(e)
	return named == nil || slices.Contains(named, table)
}

// locksChanged says that a locking read has found a row of the snapshot that others have changed behind it: then
// PostgreSQL has to refuse it. It costs a question where there are such rows.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-REPEATABLE-READ
func (j *judge) locksChanged(e *event, w *world, o own, commits int, got *history.Result) (bool, error) {
	if !e.unit.promise.SnapshotAtFirst || e.alone || e.kind != stmt.SelectForUpdate && e.kind != stmt.SelectForShare ||
		got.Err != nil || j.named(e) == nil || j.subquery(e) || stmt.Of(e.node).Limit != nil || stmt.LockOf(e.node.(*ast.SelectStmt)).Wait == stmt.Skips {
		return false, nil
	}
	s := slices.Clone(w.committed[commits])
	changed := false
	for i := range s {
		if len(j.layout[i].key) == 0 {
			continue
		}
		rest := content{}
		for key, row := range s[i] {
			if slices.ContainsFunc(w.wrote[commits:], func(wrote write) bool { _, there := wrote[i][key]; return there }) {
				changed = true
				continue
			}
			rest[key] = row
		}
		s[i] = rest
	}
	if !changed {
		return false, nil
	}
	without, err := j.beyond(s, o)
	if err != nil {
		return false, err
	}
	a, _, err := j.ask(without, e)
	if err != nil {
		return false, err
	}
	return !history.SameAnswer(&a.Results[0], got, false), nil
}

// undoneLater says that a transaction goes back to a savepoint behind a statement.
func (e *event) undoneLater() bool {
	return slices.ContainsFunc(e.unit.events, func(x *event) bool {
		return x.index > e.index && x.kind == stmt.RollbackTo && x.st.Result.Err == nil
	})
}
