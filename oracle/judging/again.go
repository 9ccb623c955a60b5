package judging

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ReasonSilent is why there is no verdict on a case in which a statement neither answered nor was seen to wait for so
// long that others were sent beside it, and which shows nothing if it runs again: what came first is not known.
const ReasonSilent = "a statement that neither answered nor waited"

// silentRuns is how often such a case runs again.
const silentRuns = 3

// heardAgain looks once more at a violation in whose run a statement was silent, as where this machine had no time for
// the server.
func (j *Judging) heardAgain() {
	if j.v.Outcome != oracle.Violation || j.h.Held() || !silent(j.h) {
		return
	}
	j.enter(Silent)
	for range silentRuns {
		again := &Rerun{}
		if j.asks(again); again.Verdict == nil || SameCause(&j.v, again.Verdict) {
			return
		}
	}
	j.v = unjudged(&j.v, ReasonSilent, fmt.Sprintf("%s where the rules want %s, beside such a statement; "+
		"in %d more runs it does not show", j.v.Actual, j.v.Expected, silentRuns))
}

// silent says that a statement neither answered nor was seen to wait for a while.
func silent(h *history.History) bool {
	return slices.ContainsFunc(h.Stmts, func(st history.Stmt) bool {
		return slices.ContainsFunc(st.Waits, func(w history.Wait) bool { return w.Kind == history.Silence })
	})
}

// ReasonSetting begins the reason of a violation that shows only where a server variable has another value than the
// vendor's, and of which no rule speaks.
const ReasonSetting = "setting "

// defaultRuns is how often a case runs at the vendor's defaults before it is said not to show there.
const defaultRuns = 3

// atDefaults looks at a violation on a server with settings that may matter and that no rule speaks of: it stays one
// only if it shows with the vendor's values, too.
func (j *Judging) atDefaults() {
	names := j.o.Doubtful
	if len(names) == 0 || j.v.Outcome != oracle.Violation ||
		j.v.Kind.OfServer() {
		return
	}
	j.enter(Defaults)
	why := "and with the vendor's values it does not show"
	for range defaultRuns {
		again := &AtDefaults{Names: names}
		if j.asks(again); again.Err != nil {
			why = "and with the vendor's values it could not be tried: " + oneLine(again.Err.Error())
			break
		}
		if again.Verdict == nil || SameCause(&j.v, again.Verdict) {
			return
		}
	}
	list := strings.Join(names, ", ")
	j.v = unjudged(&j.v, ReasonSetting+list,
		fmt.Sprintf("no rule speaks of %s: %s where the rules want %s, %s", list, j.v.Actual, j.v.Expected, why))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
