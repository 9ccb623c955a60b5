package runs

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/axis"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// Caps on what is shown, so that a page of some years of nights stays below a megabyte or so. What is left out is said.
const (
	mostRunRows  = 200
	mostDrawn    = 90 // runs of a target in a chart
	mostFindings = 100
	mostText     = 600
)

//go:embed page.html
var pageHTML string

var functions = template.FuncMap{"count": spelling.Count, "number": whole}

var page = template.Must(template.New("runs").Funcs(functions).Parse(pageHTML))

type pageView struct {
	Title, Summary     string
	Figures            []figure
	Groups             []*groupView
	Rows               []runRow
	Older              int
	Others, Superseded int
	Unread             []Unread
}

type figure struct{ Name, Value string }

// state says how a run ended; Class is good, bad, or soft where nobody knows, Short a word or two.
type state struct{ Class, Short, Text string }

type groupView struct {
	ID, Key, Version, At string
	Runs                 int
	State                state
	// Compared is when the run began that News and Baseline are about; it differs from At where later ones ran no case.
	Compared string
	News     *news
	Baseline []baselineRow
	Charts   []chart
	// Left counts the runs that are too old to be drawn.
	Left     int
	Kinds    kinds
	Findings []findingView
	More     int
}

type baselineRow struct{ Fingerprint, Reason, Href, Link, LastDay, State, Class, Cases string }

type findingView struct {
	*found
	What, Rules, Expected, Actual, Reason, Reproduced, Href, Began, Until string
	Covered                                                               bool
}

type runRow struct {
	At, Key, Anchor, Version, Cases, PerMinute, Unknown, Findings, Deviations, Behaviours, Href string
	Seed                                                                                        uint64
	State                                                                                       state
	Pages                                                                                       []link
}

type link struct{ Name, Href string }

// NotRecorded is said of what older versions did not write.
const NotRecorded = "not recorded"

// Write writes the page. dir is the folder in which it will lie: its links to other files start there.
func Write(w io.Writer, title, dir string, s *Set) error {
	href := func(file string) string { return hrefFrom(dir, file) }
	v := &pageView{Title: title, Others: s.Others, Superseded: s.Superseded}
	for _, u := range s.Unread {
		v.Unread = append(v.Unread, Unread{relative(dir, u.File), u.Why})
	}
	anchors := map[string]string{}
	fresh := map[*Run]int{}
	distinct := 0
	for i, g := range s.groups() {
		to := g.view(s, fmt.Sprintf("t%d", i+1), href, fresh)
		anchors[g.Key] = to.ID
		distinct += len(to.Findings) + to.More
		v.Groups = append(v.Groups, to)
	}
	cases := 0
	for i := range slices.Backward(s.Runs) {
		r := &s.Runs[i]
		cases += r.Cases
		if len(v.Rows) == mostRunRows {
			v.Older++
			continue
		}
		row := rowOf(r, href, fresh[r])
		row.Anchor = anchors[r.Key()]
		v.Rows = append(v.Rows, row)
	}
	if n := len(s.Runs); n > 0 {
		v.Summary = s.span()
		v.Figures = []figure{{"runs", whole(n)}, {"targets", whole(len(v.Groups))}, {"cases", whole(cases)},
			{"findings", whole(distinct)}, {"last runs, at worst", worst(v.Groups)}}
	}
	if err := page.Execute(w, v); err != nil {
		return fmt.Errorf("write page of runs: %w", err)
	}
	return nil
}

// span tells from when to when the runs are.
func (s *Set) span() string {
	i := slices.IndexFunc(s.Runs, func(r Run) bool { return !r.Begun.IsZero() })
	if i < 0 {
		return "When the runs began is " + NotRecorded + "."
	}
	text := fmt.Sprintf("From %s to %s (UTC)", moment(&s.Runs[i]), moment(&s.Runs[len(s.Runs)-1]))
	if i > 0 {
		text += "; when " + spelling.Count(i, "run") + " of older versions began is " + NotRecorded
	}
	return text + "."
}

// view makes the part of a page about a group. It counts in fresh the findings of each run that no run before it had.
func (g *group) view(s *Set, id string, href func(string) string, fresh map[*Run]int) *groupView {
	all := g.foundIn(s)
	for i, x := range all[:min(len(all), mostFindings)] {
		x.Anchor = fmt.Sprintf("%s-f%d", id, i+1)
	}
	g.countFresh(fresh)
	v := &groupView{ID: id, Key: g.Key, At: moment(g.last()), Runs: len(g.Runs), State: stateOf(g.last())}
	covered := map[string]bool{}
	if ran := g.ran(); len(ran) > 0 {
		newest := ran[len(ran)-1]
		v.Compared, v.Version = moment(newest), newest.ServerVersion
		if newest.Baseline != nil {
			v.Baseline, covered = baselineRows(newest.Baseline), keys(newest.Baseline.Covered)
		}
	}
	if n, ok := g.news(all); ok {
		v.News = &n
	}
	v.Left = max(0, len(g.Runs)-mostDrawn)
	v.Charts = chartsOf(g.Runs[v.Left:], fresh)
	v.Kinds = g.kindsOf(all)
	for i, x := range all {
		if i == mostFindings {
			v.More = len(all) - i
			break
		}
		v.Findings = append(v.Findings, viewOf(x, href, covered))
	}
	return v
}

// countFresh counts the findings of each run that no run before it had.
func (g *group) countFresh(fresh map[*Run]int) {
	before := map[string]bool{}
	for _, r := range g.Runs {
		for i := range r.Findings {
			if !before[r.Findings[i].Fingerprint] {
				fresh[r]++
			}
		}
		maps.Copy(before, r.seen())
	}
}

func chartsOf(list []*Run, fresh map[*Run]int) (out []chart) {
	add := func(c chart, ok bool) {
		if ok {
			out = append(out, c)
		}
	}
	add(withinRuns(list))
	add(overRuns("Behaviours known", list, func(r *Run) (float64, bool) {
		if r.Guide == nil {
			return 0, false
		}
		return float64(r.Guide.Behaviours), true
	}))
	add(overRuns("Kinds of deviations", list, func(r *Run) (float64, bool) {
		return float64(len(r.Known)), r.Cases > 0 && !r.Races
	}))
	add(overFindings(list, fresh))
	add(overRuns("Cases a minute", list, func(r *Run) (float64, bool) { return r.CasesPerMinute, r.Cases > 0 }))
	return out
}

// states are what is said of the end of a run, the worst first.
var states = []string{stateFailed, stateFound, NotRecorded, stateNotCounted, stateNothing}

const (
	stateFailed     = "failed"
	stateFound      = "found something"
	stateNotCounted = "nothing that counts"
	stateNothing    = "nothing found"
)

// worst is the worst state of the last runs of some groups.
func worst(list []*groupView) string {
	at := len(states) - 1
	for _, g := range list {
		at = min(at, slices.Index(states, g.State.Short))
	}
	return states[at]
}

// stateOf says how a run ended.
func stateOf(r *Run) state {
	n := len(r.Findings)
	found := "nothing found"
	if n > 0 {
		found = spelling.Count(n, "finding")
	}
	var st state
	switch e := r.End; {
	case e == nil && n > 0:
		st = state{"bad", stateFound, found + "; the exit status is " + NotRecorded}
	case e == nil:
		st = state{"soft", NotRecorded, found + "; how it ended is " + NotRecorded}
	case e.Status == 0 && n > 0:
		st = state{"good", stateNotCounted, fmt.Sprintf("status 0: %s, none of which --fail-on %s counts", found, e.FailOn)}
	case e.Status == 0:
		st = state{"good", stateNothing, "status 0: nothing found"}
	case e.Status == 1:
		st = state{"bad", stateFound, fmt.Sprintf("status 1: %s (--fail-on %s)", found, e.FailOn)}
	default:
		st = state{"bad", stateFailed, fmt.Sprintf("status %d: it failed, %s", e.Status, found)}
	}
	if e := r.End; e != nil {
		if e.Interrupted {
			st.Text += "; it was ended before its time"
		}
		if e.Error != "" {
			line, _, more := strings.Cut(e.Error, "\n")
			st.Text += "; " + shorten(line) + map[bool]string{true: " …"}[more]
		}
	}
	if r.Restarts > 0 {
		st.Text += "; " + spelling.Count(r.Restarts, "death") + " of a server, which was replaced"
	}
	return st
}

var baselineStates = map[findings.BaselineState][2]string{
	findings.BaselineCovered:   {"suppressed", "soft"},
	findings.BaselineExpired:   {"expired", "bad"},
	findings.BaselineUnmatched: {"matched nothing", "soft"},
}

func baselineRows(b *findings.BaselineReport) (out []baselineRow) {
	list := b.Entries
	if len(list) == 0 { // older versions tell fingerprints only
		for _, f := range slices.Sorted(maps.Keys(b.Covered)) {
			list = append(list, findings.BaselineEntry{Fingerprint: f, State: findings.BaselineCovered, Cases: b.Covered[f]})
		}
		for _, f := range b.Expired {
			list = append(list, findings.BaselineEntry{Fingerprint: f, State: findings.BaselineExpired, Cases: -1})
		}
		for _, f := range b.Unmatched {
			list = append(list, findings.BaselineEntry{Fingerprint: f, State: findings.BaselineUnmatched})
		}
	}
	for _, e := range list {
		text := baselineStates[e.State]
		row := baselineRow{Fingerprint: e.Fingerprint, Reason: cmp.Or(e.Reason, NotRecorded), Link: e.Link,
			LastDay: cmp.Or(e.LastDay, NotRecorded), State: text[0], Class: text[1], Cases: whole(e.Cases)}
		if e.Cases < 0 {
			row.Cases = NotRecorded
		}
		if u, err := url.Parse(e.Link); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
			row.Href = e.Link
		}
		out = append(out, row)
	}
	order := []string{"expired", "suppressed", "matched nothing"}
	slices.SortStableFunc(out, func(a, b baselineRow) int {
		return cmp.Compare(slices.Index(order, a.State), slices.Index(order, b.State))
	})
	return out
}

func viewOf(x *found, href func(string) string, covered map[string]bool) findingView {
	f := x.Newest
	v := findingView{
		found: x, What: fmt.Sprintf("%s at %s", f.Kind, f.Level), Rules: strings.Join(f.Rules, " + "),
		Expected: shorten(f.Expected), Actual: shorten(f.Actual), Reason: shorten(f.Reason), Reproduced: "not confirmed",
		Began: moment(x.First), Until: moment(x.Last), Covered: covered[f.Fingerprint],
	}
	if f.Reproduced != findings.Unconfirmed {
		v.Reproduced = "reproduced " + f.Reproduced.String()
	}
	if x.File != "" {
		v.Href = href(x.File)
	}
	return v
}

func rowOf(r *Run, href func(string) string, fresh int) runRow {
	row := runRow{
		At: moment(r), Key: r.Key(), Version: r.ServerVersion, Seed: r.Seed, Cases: whole(r.Cases),
		PerMinute: axis.Number(float64(int(r.CasesPerMinute + 0.5))), Href: href(r.File), State: stateOf(r), Unknown: "–",
		Findings: whole(len(r.Findings)), Deviations: whole(len(r.Known)), Behaviours: NotRecorded,
	}
	if fresh > 0 {
		row.Findings += fmt.Sprintf(" (%d new)", fresh)
	}
	verdicts := 0 // run --races judges each outcome of a case
	for _, n := range r.Verdicts {
		verdicts += n
	}
	if verdicts > 0 {
		row.Unknown = fmt.Sprintf("%.2f %%", 100*float64(r.Verdicts[oracle.Unknown])/float64(verdicts))
	}
	if r.Races {
		row.Deviations = "–"
	}
	switch {
	case r.Guide != nil:
		row.Behaviours = whole(r.Guide.Behaviours)
	case r.Cases == 0:
		row.Behaviours = "–"
	}
	for _, p := range r.Pages {
		row.Pages = append(row.Pages, link{p.Name, href(p.File)})
	}
	return row
}

// hrefFrom is the way from a folder to a file, or "" if there is none.
func hrefFrom(dir, file string) string {
	rel := relative(dir, file)
	if filepath.IsAbs(rel) {
		return ""
	}
	return (&url.URL{Path: filepath.ToSlash(rel)}).String()
}

// relative is the path from a folder to a file, or that of the file itself if there is none.
func relative(dir, file string) string {
	from, err := filepath.Abs(dir)
	if err != nil {
		return file
	}
	to, err := filepath.Abs(file)
	if err != nil {
		return file
	}
	rel, err := filepath.Rel(from, to)
	if err != nil {
		return file
	}
	return rel
}

func keys(m map[string]int) map[string]bool {
	out := map[string]bool{}
	for k := range m {
		out[k] = true
	}
	return out
}

func whole(n int) string { return axis.Number(float64(n)) }

// shorten cuts long texts, and says so.
func shorten(s string) string {
	r := []rune(s)
	if len(r) <= mostText {
		return s
	}
	return fmt.Sprintf("%s … (%d more characters)", string(r[:mostText]), len(r)-mostText)
}
