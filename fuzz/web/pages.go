package web

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/axis"
)

var (
	//go:embed page/page.html
	pageHTML string
	//go:embed page/style.css
	styleCSS string
	//go:embed page/live.js
	liveJS string
)

// page is one of the pages: its title, and the template of what is in it.
type page struct{ title, template string }

var pages = map[string]page{
	"/{$}":      {"Overview", "overview"},
	"/time":     {"Over time", "time"},
	"/work":     {"Work", "work"},
	"/findings": {"Findings", "findings"},
	"/finding":  {"Finding", "finding"},
	"/log":      {"Log", "log"},
}

// menu is the pages that each page links to, in order.
var menu = []struct{ Path, Title string }{
	{"/", "Overview"}, {"/time", "Over time"}, {"/work", "Work"}, {"/findings", "Findings"}, {"/log", "Log"},
}

var templates = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": axis.Number, "percent": percent, "count": spelling.Count, "ago": ago,
}).Parse(pageHTML))

// shown is what the templates see.
type shown struct {
	Board
	Title, Template, Current string
	Menu                     []struct{ Path, Title string }
	// Running is for how long the command has run.
	Running string
	// Waits says that there is no Board yet, Stopped that somebody has asked to end it.
	Waits, Stopped, CanStop bool
	Charts                  []chart
	All                     int // of the verdicts
	Newest                  []Finding
	Found                   *Finding
	Tasks                   []Job // of Found
	CanRun, Rerunning       bool
	Came                    string
	Log                     []string
}

// newestShown is how many findings the overview lists.
const newestShown = 5

func (s *Server) page(w http.ResponseWriter, r *http.Request, p page) {
	b, ok := s.newest()
	v := shown{Board: b, Title: p.title, Template: p.template, Menu: menu, Current: r.URL.Path, Waits: !ok, CanStop: s.o.Stop != nil}
	if ok {
		v.Running = time.Since(b.Begun).Round(time.Second).String()
	}
	for _, c := range b.Verdicts {
		v.All += c.N
	}
	v.Newest = slices.Clone(b.Findings[max(0, len(b.Findings)-newestShown):])
	slices.Reverse(v.Newest)
	if p.template == "finding" {
		f, found := s.finding(r)
		if !found {
			http.Error(w, "There is no such finding.", http.StatusNotFound)
			return
		}
		v.Found, v.Title, v.Current = &f, f.ID, "/findings"
		v.CanRun = s.o.Again != nil && f.File != ""
		for _, j := range b.Jobs {
			if j.Finding == f.ID {
				v.Tasks = append(v.Tasks, j)
			}
		}
	}
	s.mu.Lock()
	v.Stopped = s.stopped
	if p.template == "time" {
		for i := range b.Figures {
			if !b.Figures[i].Charted {
				continue
			}
			if c, ok := draw(&b.Figures[i], s.memory.line(&b.Figures[i], b.Begun)); ok {
				v.Charts = append(v.Charts, c)
			}
		}
	}
	if v.Found != nil {
		x, ran := s.again[v.Found.ID]
		v.Came, v.Rerunning = x.came, ran && x.came == ""
	}
	v.Log = slices.Clone(s.log)
	s.mu.Unlock()
	slices.Reverse(v.Log)
	var out bytes.Buffer
	if err := templates.Execute(&out, &v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(out.Bytes())
}

// In is the name of the template of a page; the page's template has one for each.
func (v *shown) In(name string) bool { return v.Template == name }

// Lists says that there is a page of a finding.
func (v *shown) Lists(id string) bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.ID == id })
}

// After is how long the command had run at a moment.
func (v *shown) After(t time.Time) string { return t.Sub(v.Begun).Round(time.Second).String() }

func percent(part, all int) string {
	if all == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}

// ago is how long something has gone on.
func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return time.Since(t).Round(time.Second).String()
}
