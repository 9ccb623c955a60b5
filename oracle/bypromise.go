package oracle

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/model"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
	"github.com/txnfuzz/txnfuzz/oracle/rowversions"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// Promised is the judge that knows what a level promises, and no engine and no SQL; as Verdict.Oracle
// names it.
const Promised = "promise"

// ByPromise is the verdict on a history that the rules cannot judge, by what the judge by promise
// says of it, and the judges of row locks and of cycles of versions. Where these cannot tell either, it is the verdict
// as it was.
func ByPromise(c *corpus.Case, h *history.History, was *Verdict, g *promise.Ruling) Verdict {
	v := byPromise(c, h, was, g)
	v.rowLocks(c, h)
	if v.Outcome == OK { // else it is told already, or known
		v.unlessExplained(c, h, RowVersions, rowversions.Cycle)
	}
	return v
}

func byPromise(c *corpus.Case, h *history.History, was *Verdict, g *promise.Ruling) Verdict {
	v := Verdict{Stmt: -1, Oracle: Promised, Statements: g.Statements, Judged: g.Judged, Asked: g.Solos, Conflicting: was.Conflicting || g.Met}
	switch {
	case g.Broken:
		v.violates(h, Promised, Kind(g.Kind), g.Stmt, causes(c, h, g)...)
		v.Expected, v.Actual, v.Reason = g.Expected, g.Actual, g.Reason
		if g.Promise.Says != "" {
			v.Reason += ". What is promised: " + g.Promise.Says + " (" + g.Promise.Link + ")"
		}
		if g.ButForKeys {
			v.keysForgotten(h)
		}
	case g.Unjudged != "":
		own := *was
		if own.Reason == ReasonDeclared || own.Reason == ReasonHeld { // nobody else is there to say why
			own.Reason += ": " + g.Unjudged
			return own
		}
		own.Unpromised = g.Unjudged
		return own
	default:
		v.Outcome = OK
	}
	return v
}

// keysForgotten makes a known deviation of a history that has no serial order only since keys are looked up on the newest
// rows, if the server is known for that.
func (v *Verdict) keysForgotten(h *history.History) {
	found := rules.DeviationIn(h.Server, corpus.Serializable, rules.KeyLookup)
	if found == nil {
		return
	}
	v.Outcome, v.Rules = Known, []string{found.Name}
	v.Reason += "; " + says([]*rules.Rule{found})
	v.Fingerprint = knownFingerprint(found.Name, corpus.Serializable.Short())
}

// causes tells, for the fingerprint of a violation, what shows it; on PostgreSQL also how the transactions came to the
// rows by which they depend on each other: else all that is not serializable would be one finding. Of several cycles
// it is one in which statements read all rows themselves.
func causes(c *corpus.Case, h *history.History, g *promise.Ruling) []string {
	var list []Phenomenon
	if g.Dependencies != nil {
		list = named(g.Dependencies)
	}
	for i := range list {
		if len(list[i].through()) > 0 {
			continue
		}
		for _, e := range list[i].Cycle {
			if e.Kind&graph.AnyRW != 0 {
				return append(kindsIn(c, h, e.FromStmt), "plain read")
			}
		}
		return []string{string(list[i].Kind)}
	}
	if len(list) > 0 {
		return list[0].through()
	}
	return append(kindsIn(c, h, g.Stmt), throughKeys(c, h)...)
}

// through tells which dependencies of a cycle rest on something else than a statement's own read, and on what: "wr
// foreign key" where the check of one saw what another transaction had written, "rw" where something did not see it.
func (p *Phenomenon) through() (out []string) {
	for _, e := range p.Cycle {
		if e.Through == "" {
			continue
		}
		way := "wr " + e.Through
		if e.Kind&graph.AnyRW != 0 {
			way = "rw " + e.Through
		}
		if !slices.Contains(out, way) {
			out = append(out, way)
		}
	}
	slices.Sort(out)
	return out
}

// throughKeys tells the same by what of a case goes by the newest rows on PostgreSQL at every level, where the
// dependencies are not known.
func throughKeys(c *corpus.Case, h *history.History) (ways []string) {
	if h.Server.DBMS != history.PostgreSQL {
		return nil
	}
	cascades, refers := false, false
	for _, l := range c.Init {
		if s, ok := l.Stmt.(*ast.CreateTableStmt); ok {
			for _, r := range stmt.References(s) {
				refers, cascades = true, cascades || acts(r)
			}
		}
	}
	switch {
	case cascades:
		ways = append(ways, mvcc.ThroughCascade)
	case refers:
		ways = append(ways, mvcc.ThroughForeignKey)
	}
	if slices.ContainsFunc(c.Steps, func(l corpus.Line) bool {
		raw, ok := l.Stmt.(*stmt.RawStmt)
		insert, parsed := l.Stmt.(*ast.InsertStmt)
		return ok && slices.Contains(raw.Words(), "conflict") || parsed && insert.IgnoreErr
	}) {
		ways = append(ways, mvcc.ThroughUpsert)
	}
	return ways
}

// acts says that a foreign key changes the rows that refer to one which is changed or deleted.
func acts(r *ast.ReferenceDef) bool {
	changes := func(o model.ReferOptionType) bool {
		return o == model.ReferOptionCascade || o == model.ReferOptionSetNull || o == model.ReferOptionSetDefault
	}
	return r.OnDelete != nil && changes(r.OnDelete.ReferOpt) || r.OnUpdate != nil && changes(r.OnUpdate.ReferOpt)
}

// kindsIn is the kind of a statement, for a fingerprint.
func kindsIn(c *corpus.Case, h *history.History, stmt int) []string {
	if stmt < 0 {
		return nil
	}
	return []string{string(KindOf(c.Steps[h.Stmts[stmt].Line].Stmt))}
}
