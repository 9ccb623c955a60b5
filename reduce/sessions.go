package reduce

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// ended returns the session that a step kills or disconnects, 0 for none.
func (e *entry) ended() int {
	about := e.st.about
	switch {
	case about == nil:
		return 0
	case about.Does == stmt.Kill:
		return about.Target
	case about.Does == stmt.Disconnect:
		return e.session
	}
	return 0
}

// endingCandidates lists what could be in the place of a line that ends a session: a ROLLBACK of
// that session, which does the same to the data and to its locks, or its disconnect in place of a KILL.
func endingCandidates(d *draft) []candidate {
	var out []candidate
	for i := range d.steps {
		session := d.steps[i].ended()
		if session == 0 {
			continue
		}
		for _, by := range []ast.StmtNode{&ast.RollbackStmt{}, &stmt.SessionStmt{Does: stmt.Disconnect}} {
			to := d.lib.print(by)
			if to == nil || to.text == d.steps[i].st.text {
				continue
			}
			out = append(out, candidate{armEnding, armEnding.String() + d.lineNames(nil, []int{i}) + ">" + to.text, func() *draft {
				steps := slices.Clone(d.steps)
				steps[i] = entry{session: session, st: to}
				return d.with(d.init, steps)
			}})
		}
	}
	return out
}

// killFaults notes each KILL of a session that does nothing: a case may name its own only.
func (d *draft) killFaults(out map[string]bool) {
	sessions := d.sessions()
	for _, e := range d.steps {
		if a := e.st.about; a != nil && a.Target != 0 && !slices.Contains(sessions, a.Target) {
			out["KILL of a session that is not there"] = true
		}
	}
}

// renumbered returns a step with other numbers for its sessions.
func (d *draft) renumbered(e entry, to map[int]int) (entry, bool) {
	if n, ok := to[e.session]; ok {
		e.session = n
	}
	if e.st.about == nil || e.st.about.Target == 0 {
		return e, true
	}
	about := *e.st.about
	if n, ok := to[about.Target]; ok {
		about.Target = n
	}
	e.st = d.lib.print(&about)
	return e, e.st != nil
}
