package replicaread_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/replicaread"
)

// Contents are written as their rows: "" is an empty table.
type content = string

// state is one of the primary: what it holds and behind how many statements, which are answered one after the other.
type state struct {
	holds   content
	commits int
}

// read is one of a session. From the first sent says it lies behind as many states that were acknowledged as after, and
// before the statements of the state with the number before were sent.
type read struct {
	session       int
	reads         content
	after, before int
}

// three is a primary that comes from nothing to 1 2 by two commits.
var three = []state{{"", 0}, {"1", 1}, {"1 2", 1}}

var cases = []struct {
	name      string
	states    []state
	reads     []read
	unordered bool
	fresh     bool
	shape     string // empty: nothing is wrong
	undecided int
}{
	{name: "in order", states: three, reads: []read{{1, "", 0, 9}, {2, "1", 0, 9}, {1, "1", 2, 9}, {1, "1 2", 2, 9}}},
	{name: "sessions by themselves", states: three, reads: []read{{1, "1 2", 2, 9}, {2, "", 2, 9}, {2, "1 2", 2, 9}}},
	{name: "the second commit first", states: three, reads: []read{{1, "2", 2, 9}}, shape: history.ReadNoState},
	{name: "back", states: three, reads: []read{{1, "1 2", 2, 9}, {1, "1", 2, 9}}, shape: history.ReadBack},
	{name: "a row that nobody wrote", states: three, reads: []read{{2, "3", 2, 9}}, shape: history.ReadNoState},
	{
		name:   "half of a commit",
		states: []state{{"", 0}, {"1 2", 1}}, reads: []read{{1, "2", 0, 9}}, shape: history.ReadTorn,
	},
	{name: "before it was sent", states: three, reads: []read{{1, "1 2", 1, 2}}, shape: history.ReadEarly},
	{
		name:   "what comes back is no step back",
		states: []state{{"", 0}, {"1", 1}, {"", 1}}, reads: []read{{1, "1", 2, 9}, {1, "", 2, 9}},
	},
	{
		name:   "but was not yet sent",
		states: []state{{"", 0}, {"1", 1}, {"", 1}}, reads: []read{{1, "1", 1, 2}, {1, "", 1, 2}}, shape: history.ReadBack,
	},
	{name: "old and fresh not promised", states: three, reads: []read{{1, "", 2, 9}}},
	{name: "old", states: three, reads: []read{{1, "", 1, 9}}, fresh: true, shape: history.ReadStale},
	{name: "fresh", states: three, reads: []read{{1, "", 0, 9}, {1, "1", 1, 9}, {1, "1 2", 2, 9}}, fresh: true},
	{
		name:   "seen by nobody",
		states: []state{{"", 0}, {"1 2", 2}, {"1 2 3", 1}}, reads: []read{{1, "2", 1, 9}, {1, "1 2", 1, 9}, {1, "1 2 3", 2, 9}},
		undecided: 1,
	},
	{
		name:   "seen by nobody, and too late",
		states: []state{{"", 0}, {"1 2", 2}, {"1 2 3", 1}}, reads: []read{{1, "1 2 3", 2, 9}, {1, "1", 1, 9}},
		shape: history.ReadTorn,
	},
	{
		name:   "two that nobody saw, where there is one",
		states: []state{{"", 0}, {"1 2", 2}}, reads: []read{{1, "1", 1, 9}, {1, "2", 1, 9}},
		shape: history.ReadTorn, undecided: 1,
	},
	{
		name:   "two that nobody saw",
		states: []state{{"", 0}, {"1 2 3", 3}}, reads: []read{{1, "1", 1, 9}, {1, "1", 1, 9}, {1, "2", 1, 9}}, undecided: 3,
	},
	{
		name: "any order", states: three, unordered: true,
		reads: []read{{1, "2", 2, 9}, {1, "1 2", 2, 9}, {1, "1", 2, 9}},
	},
	{
		name: "any order, half of a commit", states: []state{{"", 0}, {"1", 1}, {"1 2 3", 1}}, unordered: true,
		reads: []read{{1, "2", 2, 9}}, shape: history.ReadNoState,
	},
	{
		name: "any order, not yet sent", states: three, unordered: true,
		reads: []read{{1, "2", 1, 2}}, shape: history.ReadNoState,
	},
	{
		name: "any order, seen by nobody", states: []state{{"", 0}, {"1", 1}, {"1 2 3", 2}}, unordered: true,
		reads: []read{{1, "2", 2, 9}}, undecided: 1,
	},
}

// TestJudge judges each case, and once more as it comes back from a file.
func TestJudge(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := historyOf(c.states, c.reads, !c.unordered, c.fresh)
			text, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			again := &history.History{}
			if err := json.Unmarshal(text, again); err != nil {
				t.Fatal(err)
			}
			for _, h := range []*history.History{h, again} {
				r := replicaread.Judge(h)
				shape := ""
				if r.Wrong != nil {
					shape = r.Wrong.Shape
				}
				if shape != c.shape || r.Undecided != c.undecided || r.Reads != len(c.reads) {
					t.Errorf("%+v of %d reads, wrong: %+v; want %q and %d undecided", r, r.Reads, r.Wrong, c.shape, c.undecided)
				}
			}
		})
	}
}

// TestUnjudged: where it is not known what came first nothing is wrong.
func TestUnjudged(t *testing.T) {
	lie := func() *history.History {
		h := historyOf(three, []read{{1, "7", 2, 9}}, true, false)
		return h
	}
	if replicaread.Judge(lie()).Wrong == nil {
		t.Fatal("the lie is not noticed")
	}
	for name, change := range map[string]func(*history.History){
		"stuck":  func(h *history.History) { h.End = history.Stuck },
		"silent": func(h *history.History) { h.Stmts[0].Waits = []history.Wait{{Kind: history.Silence}} },
		"held":   func(h *history.History) { h.Stmts[0].Waits = []history.Wait{{Kind: history.Held}} },
		"none":   func(h *history.History) { h.Reads = nil },
	} {
		h := lie()
		change(h)
		if r := replicaread.Judge(h); r.Wrong != nil || r.Reads != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// historyOf gives each state two ticks for each of its statements, which are sent together before they are answered.
func historyOf(states []state, reads []read, ordered, fresh bool) *history.History {
	h := &history.History{Reads: &history.ReplicaReads{Promise: history.ReplicaPromise{Ordered: ordered, Fresh: fresh}}}
	contents := map[content]int{}
	indexOf := func(c content) int {
		i, ok := contents[c]
		if !ok {
			i = len(contents)
			contents[c] = i
			h.Reads.Contents = append(h.Reads.Contents, history.Content{{Table: "t", Rows: strings.Fields(c)}})
		}
		return i
	}
	clock := history.Tick(0)
	sent, answered := []history.Tick{0}, []history.Tick{0}
	for k, s := range states {
		p := history.PrimaryState{Content: indexOf(s.holds)}
		for range s.commits {
			clock++
			p.Commits = append(p.Commits, len(h.Stmts))
			h.Stmts = append(h.Stmts, history.Stmt{Line: len(h.Stmts), Submit: clock})
			p.Begun = clock
		}
		for _, at := range p.Commits {
			clock++
			h.Stmts[at].Return = clock
		}
		if k > 0 {
			sent, answered = append(sent, p.Begun), append(answered, clock)
		}
		h.Reads.States = append(h.Reads.States, p)
	}
	for _, r := range reads {
		until := clock + 1
		if r.before < len(sent) {
			until = sent[r.before] - 1
		}
		h.Reads.Reads = append(h.Reads.Reads, history.ReplicaRead{
			Session: r.session, From: answered[r.after], Until: until, Content: indexOf(r.reads),
		})
	}
	return h
}
