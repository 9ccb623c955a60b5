package oracle

import (
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

type answered struct {
	dim     rules.Dimension
	variant rules.Variant
}

// promiseNames gives the rows of the table that are no deviations a name, for scripts.
var promiseNames = map[answered]string{
	{rules.ConsistentRead, rules.Newest}:           "ConsistentRead/Newest",
	{rules.ConsistentRead, rules.Committed}:        "ConsistentRead/Committed",
	{rules.ConsistentRead, rules.Snapshot}:         "ConsistentRead/Snapshot",
	{rules.ConsistentRead, rules.SharedLock}:       "ConsistentRead/SharedLock",
	{rules.SnapshotPoint, rules.AtBegin}:           "SnapshotPoint/AtBegin",
	{rules.SnapshotPoint, rules.AtFirstRead}:       "SnapshotPoint/AtFirstRead",
	{rules.SnapshotPoint, rules.AtFirstStatement}:  "SnapshotPoint/AtFirstStatement",
	{rules.CurrentRead, rules.Retry}:               "CurrentRead/Retry",
	{rules.CurrentRead, rules.Cursor}:              "CurrentRead/Cursor",
	{rules.ShareLock, rules.ShareRefused}:          "ShareLock/ShareRefused",
	{rules.IdleSavepoint, rules.KeepsTransaction}:  "IdleSavepoint/KeepsTransaction",
	{rules.LockedDerived, rules.DerivedPlain}:      "LockedDerived/DerivedPlain",
	{rules.ShareNowait, rules.SharePlain}:          "ShareNowait/SharePlain",
	{rules.AutocommitLock, rules.AutocommitPasses}: "AutocommitLock/AutocommitPasses",
	{rules.NoOpUpdate, rules.NoOpWrites}:           "NoOpUpdate/NoOpWrites",
	{rules.NoOpUpsert, rules.NoOpWrites}:           "NoOpUpsert/NoOpWrites",
	{rules.KeyChange, rules.SameRow}:               "KeyChange/SameRow",
	{rules.ReverseScan, rules.SameView}:            "ReverseScan/SameView",
	{rules.IdleKill, rules.NothingToEnd}:           "IdleKill/NothingToEnd",
	{rules.RefusedWait, rules.FailsAtOnce}:         "RefusedWait/FailsAtOnce",
	{rules.RecordChanged, rules.Refuse}:            "RecordChanged/Refuse",
	{rules.AfterDeadlock, rules.NoTransaction}:     "AfterDeadlock/NoTransaction",
}

// script is a block of the scripts, with the verdict that it expects.
type script struct {
	at      string
	c       *corpus.Case
	h       *history.History
	outcome Outcome
	// rules holds the names behind rule=, and of a known verdict the one deviation.
	rules []string
}

func scripts(t *testing.T) []script {
	t.Helper()
	var out []script
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := script{at: d.Pos}
			s.c, s.h = readScript(t, d)
			verdict, _, _ := strings.Cut(d.Expected, " (")
			outcome, why, _ := strings.Cut(verdict, " ")
			s.outcome = Outcome(strings.TrimSuffix(outcome, ","))
			if s.outcome == Known && !strings.Contains(why, "+") {
				s.rules = []string{why}
			}
			if a, ok := d.Arg("rule"); ok {
				s.rules = append(s.rules, a.Vals...)
			}
			out = append(out, s)
			return d.Expected
		})
	})
	return out
}

func (s *script) in(scope rules.Scope) bool { return scope.Covers(s.h.Server, s.h.Levels[1]) }

// TestRulesHaveScripts demands for every row of the rules table a script that shows it
// on a server and at a level of its scope, and one that breaks it: for a deviation a
// history that it alone explains, and one that comes near but is a violation; for a
// promise one that is as promised, and one that is not.
func TestRulesHaveScripts(t *testing.T) {
	all := scripts(t)
	names := map[string]bool{}
	for i := range rules.Table {
		r := &rules.Table[i]
		if ofPostgres(r) {
			continue
		}
		name, shows := r.Name, Known
		if r.Status != rules.Deviation {
			name, shows = promiseNames[answered{r.Dim, r.Variant}], OK
			if name == "" {
				t.Errorf("the row %q has no name in promiseNames", r.Says)
				continue
			}
		}
		names[name] = true
		has := func(o Outcome, inScope bool) bool {
			return slices.ContainsFunc(all, func(s script) bool {
				return s.outcome == o && slices.Contains(s.rules, name) && (!inScope || s.in(r.Scope))
			})
		}
		if !has(shows, true) {
			t.Errorf("no script of %+v with the verdict %s shows %s", r.Scope, shows, name)
		}
		if !has(Violation, r.Status != rules.Deviation) {
			t.Errorf("no script of %+v breaks %s", r.Scope, name)
		}
	}
	for _, s := range all {
		for _, n := range s.rules {
			if !names[n] {
				t.Errorf("%s: no rule is called %q", s.at, n)
			}
		}
	}
}

// ofPostgres says that a row is PostgreSQL's: there the server computes, so that no script without its answers can be
// judged. What shows these rows, and breaks them, is recorded in oracle/postgres.
func ofPostgres(r *rules.Rule) bool { return slices.Contains(r.Scope.DBMS, history.PostgreSQL) }

// TestScriptsDependOnPromises gives each promise of the table another variant: one of its
// scripts must then be judged otherwise, or they do not show it.
func TestScriptsDependOnPromises(t *testing.T) {
	all := scripts(t)
	for i := range rules.Table {
		r := &rules.Table[i]
		// The dimension is told of, but not looked at: each family's replay has its own way.
		if r.Status == rules.Deviation || r.Dim == rules.CurrentRead || ofPostgres(r) {
			continue
		}
		promised, seen := r.Variant, false
		for v := rules.Variant(0); v < 4 && !seen; v++ {
			r.Variant = v
			seen = slices.ContainsFunc(all, func(s script) bool {
				return v != promised && slices.Contains(s.rules, promiseNames[answered{r.Dim, promised}]) &&
					s.in(r.Scope) && Check(s.c, s.h).Outcome != s.outcome
			})
		}
		r.Variant = promised
		if !seen {
			t.Errorf("no script depends on %s of %+v", promiseNames[answered{r.Dim, promised}], r.Scope)
		}
	}
}
