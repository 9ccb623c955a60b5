package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// leavesChanged says that a write may have met rows that others had changed behind its transaction's snapshot,
// and left them as they were: then it cannot be told from what it changed whether later reads show them as they
// are or as they were. Rows that it meets stay locked at this level, so what is changed later is none of these.
// https://dev.mysql.com/doc/refman/en/innodb-locks-set.html
func (j *judge) leavesChanged(e *event, w *world, o own, commits int, alone *history.Result) (bool, error) {
	if !e.writes() || e.alone || e.unit.promise.Plain != Snapshot {
		return false, nil
	}
	if !j.knownLocks() {
		return leavesAsItIs(e) || len(j.hidden.triggers) > 0, nil
	}
	since, viewed := j.earliestView(e)
	if !viewed {
		return false, nil
	}
	behind := j.behind(e, w, o, commits, func(x *event) bool { return x.to > since })
	touched := func(i int) bool { return len(behind[i]) > 0 }
	if slices.ContainsFunc(j.hidden.inTriggers(j.layout), touched) {
		return true, nil
	}
	named := j.named(e)
	switch {
	case behind.empty(), !leavesAsItIs(e), named != nil && !slices.ContainsFunc(named, touched):
		return false, nil
	case named == nil, stmt.Of(e.node).Limit != nil, stmt.Of(e.node).Several, j.uncertain(e, w) != "",
		slices.ContainsFunc(named, func(i int) bool { return touched(i) && len(j.layout[i].key) == 0 }):
		return true, nil
	}
	before, err := j.sight(w.committed[commits], o)
	if err != nil {
		return false, err
	}
	got, err := j.answersWithout(e, before, behind, named)
	return got == nil || !history.SameAnswer(got, alone, false), err
}

// knownLocks says that the manual tells which rows stay locked.
func (j *judge) knownLocks() bool {
	return j.h.Server.Declared == nil && j.h.Server.DBMS != history.TiDB
}

// leavesAsItIs says that a write may have met rows and left them as they were.
func leavesAsItIs(e *event) bool {
	if e.st.Result.Err != nil {
		return false
	}
	switch n := e.node.(type) {
	case *ast.UpdateStmt:
		return e.st.Result.Matched != e.st.Result.Changed
	case *ast.InsertStmt:
		return n.IsReplace || len(n.OnDuplicate) > 0
	case *stmt.RawStmt:
		return e.writes()
	}
	return false
}

// inTriggers are the tables that some trigger may touch.
func (h *hidden) inTriggers(l layout) (tables []int) {
	for i, sh := range l {
		if slices.ContainsFunc(h.triggers, func(t *stmt.TriggerStmt) bool {
			// Within double quotes may stand a name.
			return slices.Contains(t.Words(), strings.ToLower(sh.name)) || strings.Contains(t.SQL, `"`)
		}) {
			tables = append(tables, i)
		}
	}
	return tables
}
