package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/engines"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// Step is one executed statement with what was promised and what was seen.
type Step struct {
	// Stmt is the index into History.Stmts.
	Stmt             int
	Kind             stmt.Kind
	Expected, Actual string
	// Promised is what was promised in full; nil where nothing was.
	Promised *Promise
	// Or holds what else would have been right, if the step is the wrong one.
	Or []string
	// Differs says that the answer is not what was promised.
	Differs bool
	// Reason is a sentence for a step that differs.
	Reason string
}

// Promise is the answer that a statement was promised.
type Promise struct {
	// Err is an error's code, 0 for none.
	Err uint16
	// Rows holds the rows of a read, in order if Ordered.
	Rows    [][]history.Cell
	Ordered bool
	// Matched and Changed count the rows of a write; -1: not promised.
	Matched, Changed int64
}

// Account is a run as people are told of it, judged by what the server promises
// all the way, deviations of the rules table left aside.
type Account struct {
	Steps []Step
	// Wrong is the index into Steps of the first that differs; -1: the final
	// state or nothing does.
	Wrong int
	// Level is that of Wrong's transaction, 0 without one: a session may have set it. Chained is the statement that ended
	// the transaction before AND CHAIN, by which it has its level, nil if none did.
	Level   corpus.Level
	Chained ast.StmtNode `json:"-"`
	// Final holds what each table was to hold in the end, rows in text order;
	// nil where that is not known.
	Final []history.Table
	// Chains holds the versions of each row that Wrong met. Viewed says that
	// Wrong had one view, so that their field Seen means something.
	Chains []mvcc.RowHistory
	Viewed bool
	// Why explains in sentences what was promised and what happened instead.
	Why []string
	// Waits holds what the server told of the places of waits.
	Waits []mvcc.WaitedAt
	// Anomalies holds what the literature has names for.
	Anomalies []Anomaly
	// Links holds the pages that the sentences rest on.
	Links []string
}

// fitting returns the replay that a history without a fault fits although the likeliest
// one differs from it: its statements waited elsewhere, or went by other indexes.
func fitting(c *corpus.Case, h *history.History, v *Verdict, likeliest *mvcc.Replay) *mvcc.Replay {
	// One that is to end at its first difference tries all paths.
	anew := func() *mvcc.Replay { return engines.New(c, h, promiseTo(c, h, v), false) }
	for _, r := range []*mvcc.Replay{anew(), anew().Loose(), anew().Loose().Patient()} {
		if d, err := r.Run(); err == nil && d == nil {
			return r
		}
	}
	return likeliest
}

// Tell gives an account of a run. It may end early where the oracle cannot go
// on; then later steps have no promise.
func Tell(c *corpus.Case, h *history.History, v *Verdict) Account {
	if h.Held() {
		return tellHeld(c, h, v)
	}
	w := worldOf(c, h, v)
	if w == nil {
		return tell(c, h, v)
	}
	a := tell(w.Case, w.History, v)
	a.asRun(c, h, w)
	return a
}

func tell(c *corpus.Case, h *history.History, v *Verdict) Account {
	if own, err := resolved(c, h); err == nil {
		c = own
	}
	r := engines.New(c, h, promiseTo(c, h, v), true)
	d, loss := r.Run() // what was told so far is shown
	if d != nil && v.Outcome == OK {
		r = fitting(c, h, v, r)
	}
	a := Account{Steps: make([]Step, len(h.Stmts)), Wrong: -1, Waits: r.WaitedAt()}
	for i := range h.Stmts {
		st, s := &h.Stmts[i], &r.Steps[i]
		to := Step{Stmt: i, Kind: mvcc.KindOf(c.Steps[st.Line].Stmt), Actual: history.Describe(mvcc.KindOf(c.Steps[st.Line].Stmt), &st.Result)}
		if p := s.Expected; p != nil {
			to.Expected = p.String(s.Kind)
			to.Promised = &Promise{Err: p.Err, Rows: p.Cells(), Ordered: p.Ordered, Matched: p.Matched, Changed: p.Changed}
		}
		if d := s.Diff; d != nil {
			to.Differs, to.Expected, to.Actual, to.Reason = true, d.Expected, d.Actual, d.Reason
		}
		a.Steps[i] = to
	}
	if v.Stmt >= 0 && v.Stmt < len(a.Steps) {
		a.Wrong = v.Stmt
		if s := &a.Steps[v.Stmt]; !s.Differs {
			s.Differs, s.Expected, s.Actual, s.Reason = true, v.Expected, v.Actual, v.Reason
		}
	}
	if a.Wrong >= 0 {
		a.Level = r.LevelOf(a.Wrong)
		if v.Oracle == Promised {
			if l, chained := promise.LevelAt(c, h, a.Wrong); l != 0 {
				a.Level, a.Chained = l, chained
			}
		}
		if d != nil && d.Stmt == a.Wrong && d.Expected == a.Steps[a.Wrong].Expected {
			a.Steps[a.Wrong].Or = d.Or
		}
	}
	if loss == nil {
		a.Final = r.Promised()
	}
	if v.Outcome == Known || v.Outcome == Violation {
		a.Chains, a.Viewed = r.Account(a.Wrong)
		a.why(c, h, v)
	}
	if v.ByKey {
		a.Why = append(a.Why, sentence("where a transaction writes a key that its snapshot gives to another row, its later reads "+
			"may tell rows by key or by row, as an UPDATE has moved rows between keys; here rows are told by key"))
	}
	a.Anomalies = Anomalies(c, h, v)
	return a
}

// why writes the sentences: the promise at the level of the wrong statement, the view,
// what happened, what explains it.
func (a *Account) why(c *corpus.Case, h *history.History, v *Verdict) {
	say := func(format string, args ...any) { a.Why = append(a.Why, sentence(fmt.Sprintf(format, args...))) }
	if a.Wrong >= 0 {
		st := &h.Stmts[a.Wrong]
		switch {
		case a.Level == h.Levels[st.Session]:
		case a.Chained != nil:
			say("tx%d is at %s in step %d, since the transaction before was, which has ended AND CHAIN", st.Session, a.Level, st.Line+1)
		default:
			say("tx%d is at %s in step %d, since it has set its level", st.Session, a.Level, st.Line+1)
		}
		rs := promises(h.Server, a.Level, a.Steps[a.Wrong].Kind)
		if stmt.Of(c.Steps[st.Line].Stmt).Lock.Wait == stmt.Skips {
			rs = append(rs, rules.Holding(h.Server, a.Level, rules.RefusedWait)...)
		}
		for _, r := range rs {
			say("%s at %s: %s", serverName(h.Server.DBMS), a.Level, r.Says)
			a.Links = append(a.Links, r.Links...)
		}
		if at := viewPoint(c, h, a.Wrong, a.Level); at >= 0 && a.Viewed {
			say("the snapshot of tx%d was taken at step %d", st.Session, h.Stmts[at].Line+1)
		}
		due := asDue([]string{a.Steps[a.Wrong].Expected})
		got := "gets " + a.Steps[a.Wrong].Actual
		if rest, ok := strings.CutPrefix(a.Steps[a.Wrong].Actual, "waited, then "); ok {
			got = "waits, then gets " + rest
		}
		switch v.Kind {
		case promise.NotSerializable: // no statement alone is wrong, and the reason names an order first
		case mvcc.LeftOpen:
			say("behind step %d tx%d should be %s; it is %s", st.Line+1, st.Session, v.Expected, v.Actual)
		default:
			say("in step %d tx%d should %s; it %s", st.Line+1, st.Session, due, got)
			if or := a.Steps[a.Wrong].Or; len(or) > 0 {
				say("by another index, or going on at another moment, it might as well %s", asDue(or))
			}
		}
	} else if v.Kind.OfServer() {
		say("expected: %s; seen: %s", v.Expected, v.Actual)
	} else {
		say("in the end the table should hold %s; it holds %s", v.Expected, v.Actual)
	}
	reason, _, _ := strings.Cut(v.Reason, "; under the deviation")
	say("%s", reason)
	if v.Kind == promise.NotSerializable && a.Wrong >= 0 {
		st := &h.Stmts[a.Wrong]
		say("in that order step %d of tx%d would get %s; here it gets %s", st.Line+1, st.Session, v.Expected, v.Actual)
	}
	for _, name := range v.Rules {
		for _, r := range rules.Named(h.Server, mvcc.Levels(c, h), name) {
			say("known as %s: %s", r.Name, r.Says)
			a.Links = append(a.Links, r.Links...)
		}
	}
	a.Links = ofVendor(h.Server.DBMS, distinct(a.Links))
}

// mostOr bounds the answers that a sentence lists.
const mostOr = 4

// asDue says what a statement is to answer: one of several things.
func asDue(answers []string) string {
	out := make([]string, 0, len(answers))
	for _, a := range answers[:min(len(answers), mostOr)] {
		if rest, ok := strings.CutPrefix(a, "waits"); ok {
			out = append(out, "wait"+rest)
		} else {
			out = append(out, "get "+a)
		}
	}
	if left := len(answers) - len(out); left > 0 {
		out = append(out, fmt.Sprintf("get one of %d other answers", left))
	}
	return strings.Join(out, ", or ")
}

// ofVendor leaves MySQL's manual out for MariaDB where another page is cited, too: its
// maintainers do not take the other vendor's word.
func ofVendor(d history.DBMS, links []string) []string {
	own := slices.DeleteFunc(slices.Clone(links), func(l string) bool {
		return d == history.MariaDB && strings.HasPrefix(l, "https://dev.mysql.com/")
	})
	if len(own) == 0 {
		return links
	}
	return own
}

// promises returns the rules that say what a statement sees.
func promises(s history.Server, l corpus.Level, k stmt.Kind) []*rules.Rule {
	if s.DBMS == history.PostgreSQL && l > corpus.ReadCommitted {
		return nil // the judge by promise tells what is promised there
	}
	switch k {
	case stmt.Select:
		if l < corpus.RepeatableRead { // whose statements have a snapshot each, or none
			return rules.Holding(s, l, rules.ConsistentRead)
		}
		return rules.Holding(s, l, rules.ConsistentRead, rules.SnapshotPoint)
	case stmt.SelectForShare, stmt.SelectForUpdate, stmt.Update, stmt.Delete, stmt.Insert:
		return rules.Holding(s, l, rules.CurrentRead, rules.RecordChanged)
	}
	return nil
}

// viewPoint returns the statement at which the snapshot of a plain SELECT was
// taken, as the rules for the server place it; -1 for reads without one.
func viewPoint(c *corpus.Case, h *history.History, i int, level corpus.Level) int {
	st := &h.Stmts[i]
	p := rules.For(h.Server)
	set := p.At(level)
	if set[rules.ConsistentRead] != rules.Snapshot || stmt.KindOf(c.Steps[st.Line].Stmt) != stmt.Select {
		return -1
	}
	if !st.InTxn {
		return i
	}
	from := i
	for from >= 0 && !(h.Stmts[from].Session == st.Session && isBegin(c, h, from)) {
		from--
	}
	for j := max(from, 0); j <= i; j++ {
		if h.Stmts[j].Session != st.Session {
			continue
		}
		switch kind := mvcc.KindOf(c.Steps[h.Stmts[j].Line].Stmt); {
		case set[rules.SnapshotPoint] == rules.AtBegin, kind == stmt.BeginSnapshot, kind == stmt.Select,
			set[rules.SnapshotPoint] == rules.AtFirstStatement && kind.TouchesRows():
			return j
		}
	}
	return -1
}

func isBegin(c *corpus.Case, h *history.History, i int) bool {
	k := mvcc.KindOf(c.Steps[h.Stmts[i].Line].Stmt)
	return k == stmt.Begin || k == stmt.BeginSnapshot
}

func serverName(d history.DBMS) string {
	switch d {
	case history.MySQL:
		return "MySQL"
	case history.MariaDB:
		return "MariaDB"
	case history.TiDB:
		return "TiDB"
	case history.PostgreSQL:
		return "PostgreSQL"
	}
	return string(d)
}

// sentence gives a clause its capital and its full stop.
func sentence(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return s
	}
	if !strings.HasPrefix(s, "tx") {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	return strings.TrimSuffix(s, ".") + "."
}

func distinct(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
