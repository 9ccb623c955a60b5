package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Caps on what is drawn, so that a page stays below a megabyte or so. What is
// left out is said in words where it would have been.
const (
	maxDrawn   = 100
	maxMoments = 120
	maxPairs   = 40
	maxChains  = 30
	maxText    = 400
)

//go:embed report.html
var pageHTML string

var page = template.Must(template.New("report").Parse(pageHTML))

// Item is one finding as it was kept.
type Item struct {
	timeline.Run
	// Reproduced is k/10, empty where it is not known.
	Reproduced string
}

// plain leaves a text as it is: the page's template escapes it.
func plain(s string) string { return s }

// entry is a finding as the page shows it.
type entry struct {
	Anchor, File, Server, Level, Fingerprint, What, Rules, Reproduced, Reproduce string
	Statements                                                                   int
	Case                                                                         string
	// Places says where its sessions were, if not on one server.
	Places string
	// Bisected are sentences on versions and commits of the server.
	Bisected []string
	// Recorded says that a history of the case is at hand.
	Recorded bool
	Drawn    *drawn
}

// drawn is the part that is left out behind the cap.
type drawn struct {
	Lanes    []lane
	Columns  template.CSS
	Moments  []moment
	Omitted  int
	Where    string
	Heads    []string
	Pairs    []pair
	MorePair int
	Expected string
	Actual   string
	Chains   []chain
	MoreRows int
	Viewed   bool
	Why      []string
	// Anomalies is what the literature has names for.
	Anomalies []anomaly
	Links     []string
	Path      *path
}

type lane struct{ Name, Level string }

// moment is a row of the timeline; Marks tells for each lane what is drawn.
type moment struct {
	Step                int
	Name, Colour        string
	SQL, Answer, Wanted string
	Marks               []mark
	Differs, Waits      bool
}

// mark is what a lane shows at a moment: how its line comes in and goes out,
// and whether something happens on it.
type mark struct {
	Class   string
	In, Out line
	Dot     bool
}

// line is how a lane's line looks: absent outside of a transaction, broken
// while a statement waits.
type line int

const (
	absent line = iota
	solid
	broken
)

type chain struct {
	Name     string
	Versions []version
}

// anomaly is one with its cycle as a picture.
type anomaly struct {
	Name, Cycle string
	Picture     template.HTML
}

func anomalyOf(a *oracle.Anomaly) anomaly {
	var b bytes.Buffer
	if a.Drawing != nil {
		_ = a.Drawing.WriteSVG(&b) // a buffer takes all
	}
	return anomaly{a.Name, shorten(a.Cycle), template.HTML(b.String())} // the drawing escapes what it writes
}

type version struct {
	Row, By             string
	Deleted, Seen, Gone bool
}

// Write writes the page. title is that of the run.
func Write(w io.Writer, title string, items []Item) error {
	data := struct {
		Title   string
		Summary string
		Entries []entry
		Left    int
	}{Title: title}
	for i := range items {
		e := entryOf(&items[i], i)
		if items[i].History != nil {
			if i < maxDrawn {
				e.Drawn = draw(&items[i])
			} else {
				data.Left++
			}
		}
		data.Entries = append(data.Entries, e)
	}
	data.Summary = summary(items)
	if err := page.Execute(w, data); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func summary(items []Item) string {
	prints, servers := map[string]bool{}, map[string]bool{}
	count := map[oracle.Outcome]int{}
	for i := range items {
		prints[items[i].Verdict.Fingerprint] = true
		servers[items[i].Target] = true
		count[items[i].Verdict.Outcome]++
	}
	return fmt.Sprintf("%s, %s, on %s: %s, %s.", spelling.Count(len(items), "case"), spelling.Count(len(prints), "fingerprint"), spelling.Count(len(servers), "target"),
		spelling.Count(count[oracle.Violation], "violation"), spelling.Count(count[oracle.Known], "known deviation"))
}

func entryOf(it *Item, i int) entry {
	v := &it.Verdict
	bare := &corpus.Case{Init: it.Case.Init, Steps: it.Case.Steps}
	bare.SetProtocol(it.Case.Protocol())
	e := entry{
		Anchor: fmt.Sprintf("f%d", i+1), File: filepath.Base(it.File), Server: it.Target, Level: it.LevelText(),
		Fingerprint: v.Fingerprint, What: string(v.Kind), Rules: strings.Join(v.Rules, " + "), Reproduced: it.Reproduced,
		Recorded: it.History != nil, Statements: len(it.Case.Steps), Case: string(corpus.Print(bare, corpus.Text)),
		Bisected:  timeline.Bisected(it.Case, plain),
		Reproduce: fmt.Sprintf("txnfuzz replay %s --target %s", quoted(it.File), quoted(it.Target)),
	}
	if it.History != nil {
		e.Server += " " + it.History.Server.Version
		if c := it.History.Cluster; c != nil {
			e.Places = c.Places(it.Case.Sessions())
		}
	}
	if e.What == "" {
		e.What = string(v.Outcome) + " " + v.Reason
	}
	return e
}

// quoted makes a word for a shell.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func draw(it *Item) *drawn {
	t := timeline.Of(it.Run)
	d := &drawn{Viewed: t.Account.Viewed, Why: t.Account.Why, Links: t.Account.Links, Path: pathOf(it.Reduction)}
	for _, s := range t.Sessions {
		d.Lanes = append(d.Lanes, lane{fmt.Sprintf("tx%d", s), t.Levels[s].Short()})
	}
	d.Columns = template.CSS(fmt.Sprintf("--lanes:%d", len(d.Lanes)))
	d.Moments, d.Omitted = moments(t)
	d.difference(t)
	for i := range t.Account.Anomalies {
		d.Anomalies = append(d.Anomalies, anomalyOf(&t.Account.Anomalies[i]))
	}
	for i, c := range t.Account.Chains {
		if i == maxChains {
			d.MoreRows = len(t.Account.Chains) - i
			break
		}
		to := chain{Name: fmt.Sprintf("%s, row %d", c.Table, c.Row)}
		for _, v := range c.Versions {
			to.Versions = append(to.Versions, version{shorten(v.Row), t.Origin(v), v.Deleted, v.Seen, v.Undone})
		}
		d.Chains = append(d.Chains, to)
	}
	return d
}

// moments draws the lanes: a session's transaction is a line, a wait a broken
// one, a statement a dot on it.
func moments(t *timeline.Timeline) (out []moment, omitted int) {
	state := map[int]line{}
	for i := range t.Moments {
		if i == maxMoments {
			return out, len(t.Moments) - i
		}
		m := &t.Moments[i]
		to := moment{Step: m.Step, SQL: shorten(m.SQL), Answer: shorten(m.Answer), Differs: m.Differs, Waits: m.Waits && m.Answered}
		if m.Waits {
			to.Answer = m.WaitText()
			if !m.Answered {
				to.Answer += ", never returns"
			}
		}
		if m.Resumed {
			to.SQL = fmt.Sprintf("step %d returns", m.Step)
		}
		if m.Parked {
			to.Answer = "(sent late: its session waited) " + to.Answer
		}
		if m.Differs {
			to.Wanted = shorten(m.Expected)
		}
		st := &t.History.Stmts[m.Stmt]
		for k, s := range t.Sessions {
			x := mark{In: state[s], Out: state[s]}
			if s == m.Session {
				to.Name, to.Colour = fmt.Sprintf("tx%d", s), colour(k)
				x.Dot, x.Out = true, absent
				switch {
				case m.Waits:
					x.Out = broken
				case st.Result.InTxn:
					x.Out = solid
				}
				state[s] = x.Out
			}
			x.Class = colour(k) + [...]string{"", " in", " inwait"}[x.In] + [...]string{"", " out", " outwait"}[x.Out]
			to.Marks = append(to.Marks, x)
		}
		out = append(out, to)
	}
	return out, 0
}

// colour is the class of a lane; the page has four colours.
func colour(lane int) string { return fmt.Sprintf("c%d", lane%4) }

// difference lays out what was expected and what came at the first difference.
func (d *drawn) difference(t *timeline.Timeline) {
	step, expected, actual := t.Wrong()
	d.Where, d.Expected, d.Actual = "In the end", shorten(expected), shorten(actual)
	var want, got [][]history.Cell
	ordered := false
	if w := t.Account.Wrong; w >= 0 {
		d.Where = fmt.Sprintf("In step %d", step)
		res := &t.History.Stmts[w].Result
		p := t.Account.Steps[w].Promised
		if p == nil || p.Err != 0 || res.Err != nil || len(res.Columns) == 0 {
			return
		}
		d.Heads, want, got, ordered = res.Columns, p.Rows, res.Rows, p.Ordered
	} else if i, ok := wrongFinal(t.History.Final, t.Account.Final); ok {
		f := &t.History.Final[i]
		d.Where = "In the end, table " + f.Name
		d.Heads, want, got = f.Columns, t.Account.Final[i].Rows, f.Rows
	}
	d.Pairs = compareRows(want, got, ordered)
	// Rows that differ come first, so that the cap does not hide them.
	slices.SortStableFunc(d.Pairs, func(a, b pair) int {
		switch {
		case a.differs() == b.differs():
			return 0
		case a.differs():
			return -1
		}
		return 1
	})
	if n := len(d.Pairs); n > maxPairs {
		d.Pairs, d.MorePair = d.Pairs[:maxPairs], n-maxPairs
	}
}

// shorten cuts long values, and says so.
func shorten(s string) string {
	r := []rune(s)
	if len(r) <= maxText {
		return s
	}
	return fmt.Sprintf("%s … (%d more characters)", string(r[:maxText]), len(r)-maxText)
}
