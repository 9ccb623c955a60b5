package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

// beside are files as they lie beside those of runs. testdata/nights has runs as the program wrote them: the first that
// of a version which did not write when it began, the fourth on PostgreSQL, the last of a server that did not start.
var beside = map[string]string{
	"found/mariadb-known-rollback-to-renews-transaction-ru-e9f38569.sql":  "/* tx1 */ SELECT 1;\n",
	"found/mariadb-known-rollback-to-renews-transaction-ru-e9f38569.json": `{"whatever": 1}`,
	"3/findings.html":      "<!DOCTYPE html>\n<html><head><title>txnfuzz: found</title>",
	"3/matrix.html":        "<!DOCTYPE html>\n<html><head><title>txnfuzz: what the cases do</title>",
	"3/index.html":         "<!DOCTYPE html>\n<html><head><title>Runs in x · txnfuzz</title>",
	"3/replay.json":        `[{"file": "a.sql", "target": "mariadb:11.8", "verdict": "ok"}]`,
	"corpus/campaign.json": `{"target": "x", "seed": 1, "next": [2], "report": {}}`,
	"half.json":            `{"target": "mariadb`,
	"strange <b>.json":     `{"name": "somebody's", "version": 2}`,
	"empty.json":           "",
	"changed.json":         `{"target": 1, "seed": 1, "cases": 1, "verdicts": {}, "findings": [], "by_level": {}}`,
	".hidden/run.json":     "{",
	"notes.txt":            "{",
}

func nights(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "nights"))); err != nil {
		t.Fatal(err)
	}
	for name, text := range beside {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, paths ...string) *Set {
	t.Helper()
	s, err := Load(paths)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLoad tells runs from other files, and says what it could not read.
func TestLoad(t *testing.T) {
	dir := nights(t)
	s := load(t, dir)
	var got []string
	for i := range s.Runs {
		r := &s.Runs[i]
		name, _ := filepath.Rel(dir, r.File)
		got = append(got, fmt.Sprintf("%s %s seed %d, %d cases, %d pages", filepath.ToSlash(name), r.Key(), r.Seed, r.Cases, len(r.Pages)))
	}
	want := []string{
		"1/run.json mariadb:11.8 seed 1, 250 cases, 0 pages", "2/run.json mariadb:11.8 seed 2, 250 cases, 0 pages",
		"3/run.json mariadb:11.8 seed 3, 300 cases, 2 pages", "4/run.json postgres:16 seed 4, 60 cases, 0 pages",
		"5/run.json mariadb:11.8 seed 5, 0 cases, 0 pages",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs (-want +got)\n%s", diff)
	}
	var unread []string
	for _, u := range s.Unread {
		unread = append(unread, filepath.Base(u.File)+" "+u.Why[:min(len(u.Why), 24)])
	}
	want = []string{"changed.json is no run that this vers", "empty.json is empty", "half.json is malformed: unexpected", "strange <b>.json is no JSON file of txnfu"}
	if diff := cmp.Diff(want, unread); diff != "" {
		t.Errorf("not read (-want +got)\n%s", diff)
	}
	if s.Others != 3 || s.Superseded != 0 {
		t.Errorf("%d other files, want 3; %d superseded, want none", s.Others, s.Superseded)
	}
	if _, err := Load([]string{filepath.Join(dir, "nowhere")}); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// TestSuperseded: of a campaign that was resumed the state that came farthest counts, and a copy counts once.
func TestSuperseded(t *testing.T) {
	dir := nights(t)
	text, err := os.ReadFile(filepath.Join(dir, "2", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "2", "copy.json"), string(text))
	put(t, filepath.Join(dir, "6", "run.json"), strings.Replace(string(text), `"cases": 250`, `"cases": 400`, 1))
	old, err := os.ReadFile(filepath.Join(dir, "1", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "7", "run.json"), string(old))
	s := load(t, dir)
	if len(s.Runs) != 5 || s.Superseded != 3 {
		t.Fatalf("%d runs, %d superseded", len(s.Runs), s.Superseded)
	}
	if i := slices.IndexFunc(s.Runs, func(r Run) bool { return r.Seed == 2 }); s.Runs[i].Cases != 400 {
		t.Errorf("the run of %d cases counts, want that of 400", s.Runs[i].Cases)
	}
}

// TestNews: what is new is compared with all earlier runs of the target that ran, and what a baseline covers is not
// gone.
func TestNews(t *testing.T) {
	s := load(t, nights(t))
	for _, told := range []string{"by entries", "by fingerprints, as older versions do"} {
		t.Run(told, func(t *testing.T) { testNews(t, s) })
		for i := range s.Runs {
			if b := s.Runs[i].Baseline; b != nil {
				b.Entries = nil
			}
		}
	}
}

func testNews(t *testing.T, s *Set) {
	for _, g := range s.groups() {
		n, ok := g.news(g.foundIn(s))
		if g.Key == "postgres:16" {
			if ok {
				t.Errorf("%s has one run, and news: %+v", g.Key, n)
			}
			continue
		}
		prints := func(list []*found) (out []string) {
			for _, x := range list {
				out = append(out, x.Newest.Fingerprint)
			}
			slices.Sort(out)
			return out
		}
		got := [][]string{prints(n.Found), n.Deviations, prints(n.Gone)}
		want := [][]string{
			{"known/rollback-to-renews-transaction/RU", "known/rollback-to-renews-transaction/SER"},
			{"rollback-to-renews-transaction"},
			{"known/index-condition-judges-unseen-rows/RR", "known/row-amid-key-change-not-found/RU"},
		}
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%v (-want +got)\n%s", ok, diff)
		}
	}
}

// TestKinds sums the counts by level up, and leads from them to findings.
func TestKinds(t *testing.T) {
	s := load(t, nights(t))
	for _, g := range s.groups() {
		all := g.foundIn(s)
		for i, x := range all {
			x.Anchor = fmt.Sprint("f", i)
		}
		k := g.kindsOf(all)
		cases, last := 0, 0
		for _, r := range g.Runs {
			if cases += r.Cases; r.Cases > 0 {
				last = r.Cases
			}
		}
		sum := k.Rows[0].Cells[len(k.Levels)]
		if k.Rows[0].Sort != rowCases || sum.Total != cases || sum.Last != last {
			t.Errorf("%s: %+v, want %d cases, %d in the last run", g.Key, k.Rows[0], cases, last)
		}
		if g.Key == "postgres:16" {
			continue
		}
		if want := []string{"RU", "RC", "RR", "SER", "mixed"}; !slices.Equal(k.Levels, want) {
			t.Errorf("levels %v, want %v", k.Levels, want)
		}
		i := slices.IndexFunc(k.Rows, func(r kindRow) bool { return r.Kind == "semi-consistent-read-uncommitted" })
		total, known := k.Rows[i].Cells[len(k.Levels)].Total, 0
		for _, r := range g.Runs {
			known += r.Known["semi-consistent-read-uncommitted"]
		}
		if total != known || k.Rows[i].Sort != rowKnown || k.Rows[i].Cells[0].Anchor == "" || k.Rows[i].Cells[1].Anchor != "" {
			t.Errorf("%+v, want %d in all, and a link at RU alone", k.Rows[i], known)
		}
	}
}

func written(t *testing.T, s *Set, dir string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, "Runs in <nights>", dir, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPage reads the page: each part of it, its links, and what is not recorded.
func TestPage(t *testing.T) {
	dir := nights(t)
	text := written(t, load(t, dir), dir)
	for _, part := range []string{
		"<title>Runs in &lt;nights&gt; · txnfuzz</title>", "when 1 run of older versions began is not recorded",
		"<dt>runs</dt><dd>5</dd>", "<dt>targets</dt><dd>2</dd>", "<dt>cases</dt><dd>860</dd>",
		"status 3: it failed, nothing found; open target mariadb:11.8: start mariadb", "The last run ran no case. This is about the one of 2026-",
		`">known/rollback-to-renews-transaction/RU</a>, in 1 case`, "Known deviations that no earlier run met: <code>rollback-to-renews-transaction</code>.",
		`<th scope="row" class="any">known/record-gone-unseen/SER</th><td><span class="badge bad">expired</span></td><td data-h="last day">2026-11-01`,
		`<td class="any">fixed in the next release</td><td class="any"><a href="https://bugs.example/1">`, "<td class=\"any\">the manual, on locking reads</td>", "matched nothing</span>",
		"<b>New behaviours within a run</b>: 303 in the run of 2026-", "<b>Behaviours known</b>", "<b>Kinds of deviations</b>", "<b>Findings</b>", "<b>Cases a minute</b>",
		`href="found/mariadb-known-rollback-to-renews-transaction-ru-e9f38569.sql"`, `<a href="3/run.json">JSON</a>`,
		`<a href="3/findings.html">findings</a>`, `<a href="3/matrix.html">replayed cases</a>`, "strange &lt;b&gt;.json</code> is no JSON file",
		"3 other JSON files of txnfuzz", `data-h="findings">3 (2 new)<`, `<span class="badge">suppressed now</span>`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	for _, part := range []string{"<script", "ZgotmplZ", "index.html", dir} {
		if strings.Contains(text, part) {
			t.Errorf("the page has %s", part)
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %s", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if !ids[m[1]] {
			t.Errorf("a link leads to %q, which is not there", m[1])
		}
	}
}

// TestHostile: what a JSON file holds is text on the page, and no address of its links is a script.
func TestHostile(t *testing.T) {
	dir := nights(t)
	text, err := os.ReadFile(filepath.Join(dir, "3", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	hostile := strings.NewReplacer("known/record-gone-unseen/SER", `<img src=x onerror=alert(1)>`, "https://bugs.example/1", "javascript:alert(1)",
		`"target": "mariadb:11.8"`, `"target": "<script>alert(2)</script>"`).Replace(string(text))
	put(t, filepath.Join(dir, "odd:name #1?", "javascript:x.json"), hostile)
	page := written(t, load(t, dir), dir)
	for _, part := range []string{"<img", "<script", `href="javascript:`} {
		if strings.Contains(page, part) {
			t.Errorf("the page has %s", part)
		}
	}
	if want := `href="./odd:name%20%231%3F/javascript:x.json"`; !strings.Contains(page, want) {
		t.Errorf("the page has no %s", want)
	}
}

// TestOld: a series of a version that wrote none of the new keys gives a page that says so.
func TestOld(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "nights", "1", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for seed := range 3 {
		r["seed"] = seed
		r["baseline"] = map[string]any{"covered": map[string]int{"a/RR": 2}, "expired": []string{"b/RR"}, "unmatched": []string{}}
		one, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, fmt.Sprint(seed, ".json")), string(one))
	}
	page := written(t, load(t, dir), dir)
	for _, part := range []string{
		"When the runs began is not recorded.", "the exit status is not recorded", `<th scope="row" class="any">b/RR</th><td><span class="badge bad">expired</span></td><td data-h="last day">not recorded`,
		`data-h="cases">not recorded</td><td class="any">not recorded</td>`, "<b>Kinds of deviations</b>",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	if strings.Contains(page, "0001-01-01") || strings.Contains(page, "within a run") {
		t.Error("the page tells what no file told")
	}
}

// TestLong: a page of years stays small, and says what it leaves out.
func TestLong(t *testing.T) {
	s := load(t, filepath.Join("testdata", "nights", "3"))
	one := s.Runs[0]
	s.Runs = nil
	for n := range 1000 {
		r := one
		r.Begun = one.Begun.AddDate(0, 0, n)
		r.Findings = slices.Clone(one.Findings)
		for i := range r.Findings {
			r.Findings[i].Fingerprint = fmt.Sprintf("%s %d", r.Findings[i].Fingerprint, n)
		}
		r.ByLevel = campaign.ByLevel{}
		s.Runs = append(s.Runs, r)
	}
	page := written(t, s, ".")
	for _, part := range []string{"800 older runs not listed", "2900 older findings not shown", "910 older runs not drawn"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	if len(page) > 1<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

// TestRaces: a search of run --races is a run, compared with its like.
func TestRaces(t *testing.T) {
	dir := t.TempDir()
	const text = `{"target": "mariadb:11.8", "server_version": "11.8.9", "seed": %d, "cases": 30, "next_case": 30, "begun": "2026-11-%dT01:00:00Z",
		"seconds": 60, "hours": 1, "holds": 90, "verdicts": {"ok": 88, "unknown": 2}, "findings": []}`
	for n := range 2 {
		put(t, filepath.Join(dir, fmt.Sprint(n, ".json")), fmt.Sprintf(text, n, 10+n))
	}
	page := written(t, load(t, dir), dir)
	for _, part := range []string{`<h2 id="t1">mariadb:11.8 with --races</h2>`, `data-h="a minute">30<`, `data-h="unknown">2.22 %<`} {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
}
