package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// Kind is what is wrong with a run: the name of a broken invariant behind
// "invariant ", or one of the others.
type Kind string

// Kinds beside broken invariants.
const (
	// StateKind: no serial order leads to this final state.
	StateKind Kind = "final state of no serial order"
	// AnswersKind: serial orders lead to the final state, but none with these answers.
	AnswersKind Kind = "answers of no serial order"
)

// rank orders kinds by how surely they matter to an application: broken invariants, final
// states, answers.
func (k Kind) rank() int {
	switch k {
	case StateKind:
		return 1
	case AnswersKind:
		return 2
	}
	return 0
}

func invariantKind(name string) Kind { return Kind("invariant " + name) }

// serials are the serial runs of one input, each subset of calls run when it is first
// asked for.
type serials struct {
	stage *Stage
	in    *mutate.Input
	level corpus.Level
	runs  map[string][]serialRun
}

// serialRun is one serial order and what it came to; answers are by call.
type serialRun struct {
	order   []int
	outcome *Outcome
}

func (s *Stage) serials(in *mutate.Input, level corpus.Level) *serials {
	return &serials{stage: s, in: in, level: level, runs: map[string][]serialRun{}}
}

// of returns the runs of some calls in every order.
func (r *serials) of(ctx context.Context, calls []int) ([]serialRun, error) {
	key := fmt.Sprint(calls)
	if out, ok := r.runs[key]; ok {
		return out, nil
	}
	var out []serialRun
	for _, order := range permutations(calls) {
		o, err := r.stage.Serial(ctx, r.in, order, r.level)
		if err != nil {
			return nil, err
		}
		if o.Calls == nil {
			return nil, fmt.Errorf("a serial run ended %s: %s", o.History.End, o.History.Detail)
		}
		out = append(out, serialRun{order, o})
	}
	r.runs[key] = out
	return out, nil
}

func permutations(list []int) [][]int {
	if len(list) == 0 {
		return [][]int{{}}
	}
	var out [][]int
	for i, first := range list {
		for _, rest := range permutations(slices.Concat(list[:i], list[i+1:])) {
			out = append(out, append([]int{first}, rest...))
		}
	}
	return out
}

// meet reports whether the order of the calls matters to what they answer or leave. Where
// it does not, what can show is a read of uncommitted rows, or of some rows before and others after.
func meet(runs []serialRun) bool {
	for _, r := range runs {
		if r.outcome.final != runs[0].outcome.final {
			return true
		}
		for k, call := range r.order {
			if r.outcome.Calls[k].text() != runs[0].outcome.Calls[slices.Index(runs[0].order, call)].text() {
				return true
			}
		}
	}
	return false
}

// all returns the numbers of all calls.
func all(in *mutate.Input) []int {
	out := make([]int, len(in.Calls))
	for i := range out {
		out[i] = i
	}
	return out
}

// applicationBug returns the shortest serial run that breaks an invariant, nil if
// there is none.
func (r *serials) applicationBug(ctx context.Context) (*serialRun, error) {
	runs, err := r.of(ctx, all(r.in))
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if len(runs[i].outcome.Broken) > 0 {
			return &runs[i], nil
		}
	}
	return nil, nil
}

// anomaly is what a concurrent run shows that no serial one does.
type anomaly struct {
	kind   Kind
	broken *Broken // of an invariant
	detail string
}

// judge compares a concurrent run with the serial orders of those calls in it that
// counted. It is nil for a run that some serial order explains.
func (r *serials) judge(ctx context.Context, o *Outcome) (*anomaly, error) {
	// Half a call is no call: what committed one transaction of several and lost another
	// cannot be compared.
	if slices.ContainsFunc(o.Calls, func(c CallOutcome) bool { return c.kept && (c.End == Aborted || c.End == Refused) }) {
		return nil, nil
	}
	decided := o.decided()
	runs, err := r.of(ctx, decided)
	if err != nil {
		return nil, err
	}
	for i := range o.Broken {
		b := &o.Broken[i]
		if !slices.ContainsFunc(runs, func(s serialRun) bool { return s.outcome.breaks(b.Invariant.Name) }) {
			return &anomaly{kind: invariantKind(b.Invariant.Name), broken: b, detail: "the invariant's SELECT gives " + orNothing(b.Answer) + ", every serial order keeps it"}, nil
		}
	}
	nearest, fewest := -1, []difference(nil)
	for i, s := range runs {
		if s.outcome.final != o.final {
			continue
		}
		d := differences(o, s)
		if len(d) == 0 {
			return nil, nil
		}
		if nearest < 0 || len(d) < len(fewest) {
			nearest, fewest = i, d
		}
	}
	if nearest >= 0 {
		return &anomaly{kind: AnswersKind, detail: answersText(o, fewest, runs[nearest].order)}, nil
	}
	return &anomaly{kind: StateKind, detail: "the final state is " + differing(o.final, runs, o.final) + ", " + statesText(runs, o.final)}, nil
}

// difference is what a run answers otherwise than a serial order, for people.
type difference struct {
	what, got, want string
	call            int
}

// differences compares the answers of a run with those of a serial order, by call.
func differences(o *Outcome, s serialRun) []difference {
	var out []difference
	order := slices.Clone(s.order)
	slices.Sort(order)
	for _, call := range order {
		got, want := &o.Calls[call], &s.outcome.Calls[slices.Index(s.order, call)]
		for i := range max(len(got.Answers), len(want.Answers)) {
			at := func(c *CallOutcome) string {
				if i < len(c.Answers) {
					return orNothing(c.Answers[i])
				}
				return notRun
			}
			if g, w := at(got), at(want); g != w {
				out = append(out, difference{fmt.Sprintf("answer %d of tx%d", i+1, call+1), g, w, call})
			}
		}
		if g, w := got.endText(), want.endText(); g != w {
			out = append(out, difference{fmt.Sprintf("tx%d", call+1), g, w, call})
		}
	}
	return out
}

// notRun stands for the answer of a statement that a call did not come to.
const notRun = "\x00"

// toldDifferences is how many answers are named for people.
const toldDifferences = 4

// answersText tells what a run answers otherwise than the serial order that comes nearest.
func answersText(o *Outcome, list []difference, order []int) string {
	var parts []string
	for _, d := range list[:min(len(list), toldDifferences)] {
		switch notRun {
		case d.want:
			parts = append(parts, fmt.Sprintf("%s is %s, where the serial order does not run that statement", d.what, d.got))
		case d.got:
			parts = append(parts, fmt.Sprintf("%s is missing, where the serial order has %s", d.what, d.want))
		default:
			parts = append(parts, fmt.Sprintf("%s is %s, not %s", d.what, d.got, d.want))
		}
	}
	if n := len(list) - len(parts); n > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", n))
	}
	text := fmt.Sprintf("%s (compared with the serial order %s, the nearest of those that lead to this final state)", strings.Join(parts, "; "), orderText(order))
	if !slices.ContainsFunc(list, func(d difference) bool { return o.Calls[d.call].End != RolledBack }) {
		text += "; only a transaction that then rolled back got this answer"
	}
	return text
}

func (o *Outcome) breaks(name string) bool {
	return slices.ContainsFunc(o.Broken, func(b Broken) bool { return b.Invariant.Name == name })
}

func orNothing(s string) string {
	if s == "" {
		return "no row"
	}
	return s
}

func orderText(order []int) string {
	parts := make([]string, len(order))
	for i, n := range order {
		parts[i] = fmt.Sprintf("tx%d", n+1)
	}
	return strings.Join(parts, ", then ")
}

// statesText tells what the serial orders lead to, in short.
func statesText(runs []serialRun, concurrent string) string {
	var parts []string
	for i := range runs[:min(len(runs), 2)] {
		parts = append(parts, fmt.Sprintf("after %s: %s", orderText(runs[i].order), differing(runs[i].outcome.final, runs, concurrent)))
	}
	if len(runs) > 2 {
		parts = append(parts, fmt.Sprintf("and %d more", len(runs)-2))
	}
	return strings.Join(parts, ", ")
}

// differing returns the tables of a state that are not the same in all of them.
func differing(state string, runs []serialRun, concurrent string) string {
	var out []string
	for _, line := range strings.Split(strings.TrimSuffix(state, "\n"), "\n") {
		same := strings.Contains("\n"+concurrent, "\n"+line+"\n")
		for i := range runs {
			same = same && strings.Contains("\n"+runs[i].outcome.final, "\n"+line+"\n")
		}
		if !same {
			if strings.HasSuffix(line, ": ") {
				line += "no row"
			}
			out = append(out, oneLine(line))
		}
	}
	return strings.Join(out, " ")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
