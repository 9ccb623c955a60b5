package findings

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// verdictKey is the header key under which the verdict of a case on a target
// at some levels is recorded: `verdict (embedded, RC RR)`.
func verdictKey(target, levels string) string {
	return "verdict (" + HeaderTarget(target) + ", " + levels + ")"
}

// VerdictText is the value of such a line: the outcome and what tells it from
// others with the same. Of a refused set-up line that is the server's message,
// so that a case that goes stale for another reason does not pass.
func VerdictText(v *oracle.Verdict) string {
	switch v.Outcome {
	case oracle.Known:
		return string(v.Outcome) + " " + strings.Join(v.Rules, " + ")
	case oracle.Violation:
		return string(v.Outcome) + " " + string(v.Kind)
	case oracle.Unknown:
		if v.Reason == target.ReasonInit {
			return string(v.Outcome) + " " + v.Reason + ": " + v.Actual
		}
		// Which of its limits the oracle meets first says nothing of the case.
		slug, _, _ := strings.Cut(v.Reason, ":")
		return string(v.Outcome) + " " + slug
	}
	return string(v.Outcome)
}
