package judging

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// Undecided is the verdict where nobody can judge, for a reason, a short slug, and what there is to say of it.
func Undecided(reason, said string) oracle.Verdict {
	return oracle.Verdict{Outcome: oracle.Unknown, Stmt: -1, Reason: reason, Actual: said}
}

// OfServer is the verdict on a run in which the server came to harm: kind is oracle.ServerCrash or oracle.ServerLog.
func OfServer(kind oracle.Kind, expected, actual, reason, fingerprint string) oracle.Verdict {
	return violation(kind, -1, expected, actual, reason, fingerprint)
}

func violation(kind oracle.Kind, at int, expected, actual, reason, fingerprint string) oracle.Verdict {
	return oracle.Verdict{
		Outcome: oracle.Violation, Kind: kind, Stmt: at,
		Expected: expected, Actual: actual, Reason: reason, Fingerprint: fingerprint,
	}
}

// Differs is the verdict on two servers that answer the statement with an index otherwise, -1 for the final state.
func Differs(kind string, at int, first, second, reason, fingerprint string) oracle.Verdict {
	return violation(oracle.Kind("differs-"+kind), at, first, second, reason, fingerprint)
}

// Agree is the verdict on two servers that answer alike.
func Agree() oracle.Verdict { return oracle.Verdict{Outcome: oracle.OK, Stmt: -1} }

// ReasonJudges is why there is no verdict on a case that the rules call ok and the judge by promise does not: one of
// the two is wrong, which is a defect of this program.
const ReasonJudges = "judges-disagree"

// JudgesDisagree is the verdict where the rules say ok and the judge by promise finds one broken.
func JudgesDisagree(g *promise.Ruling) oracle.Verdict {
	return Undecided(ReasonJudges, fmt.Sprintf("the rules say ok, and run alone by the server itself it is %s: "+
		"expected %s, actual %s", g.Kind, g.Expected, g.Actual))
}

// ReasonPlan is why there is no verdict on a case whose verdict changes with the plans that the server tells.
const ReasonPlan = "plan-not-foreseen"

// Refuted is the verdict where v is another one by the plans that the server told.
func Refuted(v, told *oracle.Verdict) oracle.Verdict {
	return Undecided(ReasonPlan,
		"it is "+v.Fingerprint+", and by the plans that the server told "+string(told.Outcome)+" "+told.Fingerprint)
}

// OneOf is the verdict on the i-th deviation of several by itself.
func OneOf(v *oracle.Verdict, i int) oracle.Verdict {
	return oracle.Verdict{
		Outcome: oracle.Known, Kind: v.Kind, Rules: slices.Clone(v.Rules[i : i+1]), Fingerprint: v.Causes()[i], Stmt: v.Stmt,
	}
}

// Stored is the verdict that the header of a stored finding tells. One without a fingerprint is no finding.
func Stored(kind oracle.Kind, expected, actual, reason, fingerprint string, rules []string) oracle.Verdict {
	v := violation(kind, -1, expected, actual, reason, fingerprint)
	if len(rules) > 0 {
		v.Rules, v.Outcome = rules, oracle.Known
	}
	if fingerprint == "" {
		v.Outcome = oracle.Unknown
	}
	return v
}

// ReasonStale is why there is no verdict on a case of which the server refuses a statement by its text.
const ReasonStale = "stale"

// Stale is the verdict instead of the ok of a case of which the server refuses a statement because of its text. The
// error is an honest answer, but a saved case in which it comes up tests nothing. ok is false for any other verdict.
func Stale(v *oracle.Verdict, c *corpus.Case, h *history.History) (instead oracle.Verdict, ok bool) {
	if v.Outcome != oracle.OK || len(v.Refused) == 0 {
		return *v, false
	}
	at := v.Refused[0]
	return Undecided(ReasonStale, fmt.Sprintf("%s: %s", StatementText(c, h, at), h.Stmts[at].Result.Err)), true
}
