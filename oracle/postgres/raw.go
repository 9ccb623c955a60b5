package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// kindOf is the kind of a statement. That of a raw one is told by its words: where PostgreSQL has a clause of its own
// (RETURNING, FOR NO KEY UPDATE), the rules are those of the statement without it.
func kindOf(n ast.StmtNode) stmt.Kind {
	raw, ok := n.(*stmt.RawStmt)
	if !ok {
		return mvcc.KindOf(n)
	}
	switch words := raw.Words(); words[0] {
	case "select":
		switch raw.Lock {
		case stmt.Share:
			return stmt.SelectForShare
		case stmt.Exclusive:
			return stmt.SelectForUpdate
		}
		return stmt.Select
	case "insert":
		if upsertsOne(raw) { // what it finds it updates
			return stmt.Update
		}
		return stmt.Insert
	case "update":
		return stmt.Update
	case "delete":
		return stmt.Delete
	case "merge":
		if mergesOne(raw) { // what it finds it updates
			return stmt.Update
		}
	}
	return stmt.Raw
}

// plainCalls may stand before a parenthesis in a raw statement: what they give depends on the row alone.
var plainCalls = map[string]bool{
	"abs": true, "coalesce": true, "greatest": true, "least": true, "length": true, "lower": true, "mod": true,
	"nullif": true, "sign": true, "upper": true, "ceil": true, "char_length": true, "div": true, "extract": true,
	"floor": true, "numeric": true, "power": true, "round": true, "substr": true,
	"and": true, "by": true, "in": true, "not": true, "or": true, "returning": true, "set": true, "values": true, "where": true,
	"=": true, "<": true, ">": true, "+": true, "-": true, "*": true, "/": true, "%": true, "(": true, ",": true,
}

// otherClauses are words of which the rules for one table do not know what they do.
var otherClauses = []string{
	"with", "table", "union", "intersect", "except", "join", "using", "conflict", "group", "having", "distinct", "limit",
	"offset", "fetch", "over", "order", "only", "tablesample", "current", "overriding", "default",
}

// rawTable is the table that a raw statement writes or locks, or from which it reads alone, or why that is not known.
func (w *world) rawTable(run *running, raw *stmt.RawStmt) (t *versions.Table, refused string) {
	words := raw.Words()
	tables := map[string]bool{}
	for _, n := range slices.Concat(raw.Reads, raw.Writes) {
		tables[n.Name.L] = true
	}
	named := 0
	for i, word := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case run.merges && (word == "using" || i > 0 && words[i-1] == "as"), // the row of values and its columns
			run.upserts && word == "conflict":
			continue
		case slices.Contains(otherClauses, word) && !(word == "distinct" && next == "from"), stmt.Unrepeatable[word]:
			return nil, "a raw statement with " + strings.ToUpper(word)
		case i > 0 && word == "select", word == "from" && run.kind == stmt.Update && words[i-1] != "distinct" && words[max(i-3, 0)] != "extract":
			return nil, "a raw statement of several tables, or with a query"
		case tables[word] && next != ".":
			named++
		}
		// Behind the table of an INSERT stand its columns.
		if next == "(" && !plainCalls[word] && !(tables[word] && (run.kind == stmt.Insert || run.upserts)) {
			return nil, "a raw statement with " + word + "(…)"
		}
	}
	if len(tables) != 1 || named != 1 || run.kind == stmt.Raw {
		return nil, "a raw statement of several tables, or of none"
	}
	for name := range tables {
		t = w.Table(name)
	}
	if t == nil {
		return nil, "a raw statement of a table that no set-up line creates"
	}
	return t, ""
}

// returns reports whether a write answers with rows.
func returns(n ast.StmtNode) bool {
	raw, ok := n.(*stmt.RawStmt)
	return ok && len(raw.Writes) > 0 && slices.Contains(raw.Words(), "returning")
}

// told is the kind of statement as which it answers.
func (run *running) told() stmt.Kind {
	if run.counts {
		return stmt.Select
	}
	return run.kind
}

// compareReturned compares the rows that a write answered with.
func (w *world) compareReturned(run *running, p *mvcc.Prediction) *mvcc.Difference {
	res := &run.st.Result
	if mvcc.SameRows(p.Rows, res.Rows, false) {
		return nil
	}
	listed := func(rows []string) string { return mvcc.ListRows(rows, false) }
	var want []string
	for _, row := range p.Rows {
		want = append(want, versions.ShowRow(row))
	}
	return &mvcc.Difference{Stmt: run.i, Kind: "wrong-rows", Expected: listed(want), Actual: listed(mvcc.CellTexts(res.Rows)),
		Reason: fmt.Sprintf("the %s returned other rows than those that it wrote", run.kind)}
}

// rawMode is the mode that the locking clause of a raw query names.
// https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-ROWS
func rawMode(raw *stmt.RawStmt) versions.Mode {
	words := raw.Words()
	for i := range words {
		if words[i] != "for" {
			continue
		}
		switch clause := strings.Join(words[i+1:min(i+4, len(words))], " "); {
		case strings.HasPrefix(clause, "no key update"):
			return versions.NoKeyExclusive
		case strings.HasPrefix(clause, "key share"):
			return versions.KeyShare
		case strings.HasPrefix(clause, "share"):
			return versions.Share
		}
	}
	return versions.Exclusive
}
