package timeline

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/oracle"
)

// VersionText says in words what a version holds, who wrote it, and whether the
// wrong step saw it.
func (t *Timeline) VersionText(v oracle.RowVersion) string {
	text := v.Row
	if v.Deleted {
		text += " deleted"
	}
	text += " " + t.Origin(v)
	if v.Seen {
		text += ", seen"
	}
	return text
}

// Origin says who wrote a version and when it became visible to others.
func (t *Timeline) Origin(v oracle.RowVersion) string {
	if v.Stmt < 0 {
		return "by the set-up"
	}
	text := fmt.Sprintf("by tx%d in step %d", v.Session, t.History.Stmts[v.Stmt].Line+1)
	end := t.endOf(v.Stmt)
	switch {
	case v.Undone && end >= 0:
		return text + fmt.Sprintf(", undone by step %d", t.History.Stmts[end].Line+1)
	case v.Undone:
		return text + ", never committed"
	case end == v.Stmt:
		return text + ", autocommit"
	case end >= 0:
		return text + fmt.Sprintf(", committed in step %d", t.History.Stmts[end].Line+1)
	}
	return text + ", never committed"
}

// endOf returns the statement that ended the transaction which the i-th ran in:
// itself outside of one; -1 if none did.
func (t *Timeline) endOf(i int) int {
	for j := i; j < len(t.History.Stmts); j++ {
		if s := &t.History.Stmts[j]; s.Session == t.History.Stmts[i].Session && !s.Result.InTxn {
			return j
		}
	}
	return -1
}
