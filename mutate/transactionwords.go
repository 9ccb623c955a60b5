package mutate

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/pgsql"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// deferrable has one more session read in a transaction that is SERIALIZABLE, READ ONLY and DEFERRABLE, if a session of
// the case is SERIALIZABLE: no other transaction can make it wait.
// https://www.postgresql.org/docs/current/sql-set-transaction.html
func (w *ownWords) deferrable(of *corpus.Case) {
	sessions := of.Sessions()
	if !slices.ContainsFunc(sessions, func(s int) bool { l, ok := of.LevelOf(s); return ok && l == corpus.Serializable }) {
		return
	}
	reads := w.reads(of)
	if len(reads) == 0 {
		return
	}
	modes := []string{stmt.ReadOnly, stmt.Deferrable}
	var lines []ast.StmtNode
	switch w.c.below(3) {
	case 0:
		lines = append(lines, corpus.Begin(), &stmt.ModesStmt{Head: "SET TRANSACTION", Modes: modes})
	case 1:
		lines = append(lines, &stmt.ModesStmt{Head: "START TRANSACTION", Modes: modes})
	default:
		level := stmt.LevelMode + corpus.Serializable.String()
		lines = append(lines, &stmt.ModesStmt{Head: "BEGIN", Modes: append([]string{level}, modes...)})
	}
	for range 1 + w.c.below(2) {
		lines = append(lines, corpus.CloneStmt(oneOf(w.c, reads)))
	}
	if w.c.odds(tooLateOdds) {
		late := [][]string{{stmt.NotDeferrable}, {stmt.ReadWrite}, {stmt.LevelMode + corpus.ReadCommitted.String()}}
		lines = append(lines, &stmt.ModesStmt{Head: "SET TRANSACTION", Modes: oneOf(w.c, late)})
	}
	lines = append(lines, &ast.CommitStmt{})
	by := slices.Max(sessions) + 1
	w.interleave(of, by, lines)
	levels := map[int]corpus.Level{by: corpus.Serializable}
	for _, s := range sessions {
		if l, ok := of.LevelOf(s); ok {
			levels[s] = l
		}
	}
	of.SetLevels(levels)
}

// reads returns plain queries on the tables of a case.
func (w *ownWords) reads(of *corpus.Case) (out []ast.StmtNode) {
	for _, l := range of.Steps {
		if stmt.KindOf(l.Stmt) == stmt.Select && !corpus.QueriesWithin(l.Stmt) && !slices.Contains(out, l.Stmt) {
			out = append(out, l.Stmt)
		}
	}
	for _, l := range of.Init {
		s, ok := l.Stmt.(*ast.CreateTableStmt)
		if !ok || w.tables[s.Table.Name.L] == nil {
			continue
		}
		if all, err := corpus.ParseStatement("SELECT * FROM " + pgsql.Name(s.Table.Name.O)); err == nil {
			out = append(out, all)
		}
	}
	return out
}

// interleave puts statements of a session between the lines of a case.
func (w *ownWords) interleave(of *corpus.Case, session int, lines []ast.StmtNode) {
	at := w.c.below(len(of.Steps))
	for _, s := range lines {
		of.Steps = slices.Insert(of.Steps, at, corpus.Line{Session: session, Stmt: s})
		at = min(at+1+w.c.below(3), len(of.Steps))
	}
}

// chain ends a transaction in the middle, and begins the next one with that; half of the time behind a savepoint.
// https://www.postgresql.org/docs/current/sql-commit.html
func (w *ownWords) chain(of *corpus.Case) {
	open := map[int]bool{}
	var within []int
	for i, l := range of.Steps {
		switch kind := stmt.KindOf(l.Stmt); {
		case kind.Begins():
			open[l.Session] = true
		case kind.Ends():
			open[l.Session] = false
		case open[l.Session] && kind.TouchesRows():
			within = append(within, i)
		}
	}
	if len(within) == 0 {
		return
	}
	at := oneOf(w.c, within)
	by := of.Steps[at].Session
	var end ast.StmtNode = &ast.CommitStmt{CompletionType: ast.CompletionTypeChain}
	if w.c.odds(chainRollbackOdds) {
		end = &ast.RollbackStmt{CompletionType: ast.CompletionTypeChain}
	}
	lines := []corpus.Line{{Session: by, Stmt: end}}
	if w.c.odds(128) {
		lines = slices.Insert(lines, 0, corpus.Line{Session: by, Stmt: &ast.SavepointStmt{Name: "chained"}})
	}
	of.Steps = slices.Insert(of.Steps, at+1, lines...)
}
