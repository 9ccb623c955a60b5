package timeline

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/oracle/plan"
)

// Plans says how each statement reads its tables, as far as the server told that it would
// right before, one text for each: "step 2: t: range by k".
func (t *Timeline) Plans() []string {
	if t.History.Facts == nil {
		return nil
	}
	var out []string
	for i := range t.History.Stmts {
		if text := plan.Parse(t.History.Facts.Plans[i]).String(); text != "" {
			out = append(out, fmt.Sprintf("step %d: %s", t.History.Stmts[i].Line+1, text))
		}
	}
	return out
}
