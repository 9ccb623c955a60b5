package tidb

import (
	"fmt"
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// anomaly is a set of wrong ways that a difference may be named after.
type anomaly struct {
	kind, reason string
	lenses       func(r *engine, tx *versions.Txn, st *history.Stmt) []mvcc.Lens
}

// anomalies are tried in order; the first that yields the answer names the
// difference. Definitions: Adya, Weak Consistency (1999), sections 3.1, 4.
var anomalies = []anomaly{
	{"non-repeatable-read", "it saw what was committed after the transaction's snapshot",
		func(r *engine, tx *versions.Txn, st *history.Stmt) []mvcc.Lens {
			if tx.Rules.Of(rules.ConsistentRead) != rules.Snapshot || r.kindOf(st) != stmt.Select {
				return nil
			}
			return []mvcc.Lens{{Store: &r.Store, View: versions.View{Tick: st.Submit, Own: tx}}, {Store: &r.Store, View: versions.View{Tick: st.Return, Own: tx}}}
		}},
	{"dirty-read", "it saw what another transaction had not committed",
		func(r *engine, tx *versions.Txn, _ *history.Stmt) []mvcc.Lens {
			return []mvcc.Lens{{Store: &r.Store, View: versions.View{Uncommitted: true, Own: tx}}}
		}},
	{"kept-rollback", "it saw what a transaction had written that was rolled back",
		func(r *engine, tx *versions.Txn, st *history.Stmt) []mvcc.Lens {
			var out []mvcc.Lens
			for _, u := range r.RolledBack() {
				out = append(out, mvcc.Lens{Store: r.Keeping(u), View: versions.View{Tick: st.Return, Own: tx}})
			}
			return out
		}},
	{"stale-read", "it saw an older state than the level allows",
		func(r *engine, tx *versions.Txn, st *history.Stmt) []mvcc.Lens {
			var out []mvcc.Lens
			for _, t := range r.commitTicks() {
				if t < st.Submit {
					out = append(out, mvcc.Lens{Store: &r.Store, View: versions.View{Tick: t, Own: tx}})
				}
			}
			slices.Reverse(out)
			return out
		}},
	{"lost-commit", "it did not see what a committed transaction had written",
		func(r *engine, tx *versions.Txn, st *history.Stmt) []mvcc.Lens {
			var out []mvcc.Lens
			for _, w := range r.CommittedTxns() {
				v := r.viewOf(tx, st)
				v.WithoutTxn = w
				out = append(out, mvcc.Lens{Store: &r.Store, View: v})
			}
			return out
		}},
	{"lost-own-write", "it did not see the transaction's own writes",
		func(r *engine, tx *versions.Txn, st *history.Stmt) []mvcc.Lens {
			v := r.viewOf(tx, st)
			v.Own = nil
			return []mvcc.Lens{{Store: &r.Store, View: v}, {Store: &r.Store, View: versions.View{Tick: st.Submit}}}
		}},
	{"lost-write", "it did not see what one earlier statement had written",
		func(r *engine, tx *versions.Txn, st *history.Stmt) []mvcc.Lens {
			var out []mvcc.Lens
			for _, w := range r.WriteStmts() {
				v := r.viewOf(tx, st)
				v.Without = w + 1
				out = append(out, mvcc.Lens{Store: &r.Store, View: v})
			}
			return out
		}},
}

// viewOf is the view that a statement has, as far as naming needs it.
func (r *engine) viewOf(tx *versions.Txn, st *history.Stmt) versions.View {
	v := versions.View{Tick: st.Submit, Own: tx}
	if tx.Snapshot > 0 && tx.Rules.Of(rules.ConsistentRead) == rules.Snapshot && r.kindOf(st) == stmt.Select {
		v.Tick = tx.Snapshot
	}
	return v
}

// commitTicks returns the points at which what is committed changed, ascending.
func (r *engine) commitTicks() []history.Tick {
	var out []history.Tick
	for _, t := range r.Store.Tables {
		for _, c := range t.Chains {
			for i := range c.Versions {
				if w := c.Versions[i].Txn; w != nil && w.Commit > 0 && !slices.Contains(out, w.Commit) {
					out = append(out, w.Commit)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// name refines a difference in rows or counts: which wrong view yields the
// answer?
func (r *engine) name(d *mvcc.Difference, i int, tx *versions.Txn, kind stmt.Kind, node ast.StmtNode) {
	if d.Kind != "wrong-rows" && d.Kind != "wrong-count" {
		return
	}
	st := &r.History.Stmts[i]
	for _, a := range anomalies {
		for _, l := range a.lenses(r, tx, st) {
			l.View.Current = i + 1
			if r.WouldAnswer(node, l, &st.Result) {
				d.Kind, d.Reason = a.kind, fmt.Sprintf("tx%d's %s: %s", st.Session, kind, a.reason)
				return
			}
		}
	}
}
