package fuzz

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle"
)

// verdictKey is the header key under which the verdict of a case on a target
// at a level is recorded: `verdict (embedded, RR)`. A colon would end the key.
func verdictKey(target, level string) string {
	return "verdict (" + strings.ReplaceAll(target, ":", " ") + ", " + level + ")"
}

// verdictText is the value of such a line: the outcome and what tells it from
// others with the same.
func verdictText(v *oracle.Verdict) string {
	switch v.Outcome {
	case oracle.Known:
		return string(v.Outcome) + " " + strings.Join(v.Rules, " + ")
	case oracle.Violation:
		return string(v.Outcome) + " " + string(v.Kind)
	case oracle.Unknown:
		return string(v.Outcome) + " " + v.Reason
	}
	return string(v.Outcome)
}
