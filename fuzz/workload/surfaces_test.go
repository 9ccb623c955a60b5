package workload

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// keyed is a workload whose runs the oracle cannot judge, for its foreign key: an
// anomaly of isolation with sell, a bug of the application with waste.
const keyed = `/* schema */
CREATE TABLE shop (id INT PRIMARY KEY);
CREATE TABLE stock (id INT PRIMARY KEY, shop INT NOT NULL, n INT NOT NULL, FOREIGN KEY (shop) REFERENCES shop (id));
/* rows shop 1 */ /* rows stock 1..2 */
/* sample stock.n */ 3, 5;
/* transaction sell (:id stock.id, :k INT 1..5) */
SELECT n FROM stock WHERE id = :id INTO :n;
/* unless :n >= :k: rollback */
UPDATE stock SET n = n - :k WHERE id = :id;
/* transaction waste (:id stock.id) */
UPDATE stock SET n = n - 4 WHERE id = :id;
/* invariant enough */ SELECT id FROM stock WHERE n < 0;`

func runKeyed(t *testing.T, target string, only ...string) *Report {
	t.Helper()
	w, err := workload.Parse("keyed.workload", []byte(keyed))
	if err != nil {
		t.Fatal(err)
	}
	b := backend(t, target)
	r, err := Run(t.Context(), w, b, Settings{
		Target: target, Levels: []corpus.Level{corpus.ReadCommitted}, Only: only, Min: 2, Max: 2, Cases: 60, Duration: time.Minute, Seed: 1, Workers: 1, Out: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUnjudged: where the oracle cannot judge the server, each finding says so
// everywhere.
func TestUnjudged(t *testing.T) {
	const words = "whether the server answered right is not known: "
	for _, target := range installed(t, "mariadb:11.8") {
		for only, class := range map[string]Class{"sell": Isolation, "waste": Application} {
			r := runKeyed(t, target, only)
			told := false
			for _, f := range r.Findings {
				told = told || f.Class == class
				saved, err := os.ReadFile(f.File)
				if err != nil || !strings.HasPrefix(f.Unjudged, words) || !strings.Contains(string(saved), words) {
					t.Errorf("%s %s: %q, %v\n%s", f.Class, f.Kind, f.Unjudged, err, saved)
				}
			}
			if !told {
				t.Fatalf("no %s among %d findings", class, len(r.Findings))
			}
			for name, write := range map[string]func(*bytes.Buffer) error{
				"text": func(b *bytes.Buffer) error { return r.WriteText(b) }, "JSON": func(b *bytes.Buffer) error { return r.WriteJSON(b) },
				"HTML": func(b *bytes.Buffer) error { return r.WriteHTML(b) }, "SARIF": func(b *bytes.Buffer) error { return r.WriteSARIF(b, "1") },
				"JUnit": func(b *bytes.Buffer) error { return r.WriteJUnit(b) },
			} {
				var b bytes.Buffer
				if err := write(&b); err != nil || !strings.Contains(b.String(), words) {
					t.Errorf("%s, %v:\n%s", name, err, b.String())
				}
			}
		}
	}
}

// TestForeignKeysAreRefilled: each run begins with the rows of its state, whatever the
// run before has left behind and however they refer to each other.
func TestForeignKeysAreRefilled(t *testing.T) {
	w, err := workload.Parse("refs.workload", []byte(`/* schema */
CREATE TABLE a (id INT PRIMARY KEY);
CREATE TABLE b (id INT PRIMARY KEY, a INT NOT NULL, FOREIGN KEY (a) REFERENCES a (id));
CREATE TABLE c (id INT PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES b (id) ON DELETE CASCADE);
INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (1, 1), (2, 2); INSERT INTO c VALUES (1, 1), (2, 2);
/* transaction add (:n one of (3, 4)) */ INSERT INTO a VALUES (:n); INSERT INTO b VALUES (:n, :n); INSERT INTO c VALUES (:n, :n);
/* transaction drop (:n one of (1, 2)) */ DELETE FROM b WHERE id = :n; DELETE FROM a WHERE id = :n;
/* transaction orphan () */ INSERT INTO b VALUES (9, 9);
/* invariant a-begins one of 3 */ SELECT SUM(id) FROM a; /* invariant b-begins one of 6 */ SELECT SUM(id + a) FROM b; /* invariant c-begins one of 6 */ SELECT SUM(id + b) FROM c;`))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range installed(t, "mariadb:11.8", "mysql:9.7") {
		pool := open(t, target)
		stage := NewStage(w, pool)
		made := 0
		for seed := range uint64(30) {
			in := mutate.Make(w, mutate.Sets(w, 2), bytesOf(seed))
			o, err := stage.Run(t.Context(), in, corpus.RepeatableRead)
			if err != nil {
				t.Fatal(err)
			}
			if got := stage.stateText(o.History.Initial, &drawn{}); got != "a: (\"1\") (\"2\")\nb: (\"1\", \"1\") (\"2\", \"2\")\nc: (\"1\", \"1\") (\"2\", \"2\")\n" {
				t.Fatalf("%s, run %d begins with\n%s", target, seed, got)
			}
			for _, v := range o.Before { // as the server tells it then, not as it was read once
				t.Fatalf("%s, run %d begins with %s: %s", target, seed, v.Invariant.Name, v.Answer)
			}
			for i, c := range o.Calls {
				switch in.Calls[i].Transaction.Name {
				case "orphan": // the key holds in spite of the refill
					if c.End != Refused || c.Code != 1452 {
						t.Errorf("%s: an orphan was %s with %d", target, c.End, c.Code)
					}
				default:
					if c.End == Committed {
						made++
					}
				}
			}
		}
		if made == 0 {
			t.Errorf("%s: nothing was ever committed", target)
		}
	}
}

// reported is a report with one of each.
func reported() *Report {
	at := func(level string, runs int, f ...string) *Cell {
		return &Cell{Transactions: []string{"sell", "waste"}, Level: level, Runs: runs, Aborts: map[uint16]int{1213: 2}, Refused: map[uint16]int{}, Anomalies: map[Kind]int{}, Findings: f}
	}
	f := &Finding{
		ID: "w-1", Class: Isolation, Kind: "invariant <enough>", Anomaly: "lost update (P4)", NamedBy: ByOrder, Level: "RC", Transactions: []string{"sell", "waste"}, Calls: []string{"tx1 sell(1, 'a&b')", "tx2 waste(1)"},
		File: "found/w-1.sql", Statements: 4, Detail: `gives ("<-1>")`, Reduced: true, Reproduced: 9, Reruns: 10, Seen: 3, LeftOut: []string{"tx1, line 9: SELECT 1"},
		Weakest: "RR", WeakestRuns: 50, Mend: []string{"line 3, sell: SELECT 1 FOR UPDATE"}, MendRuns: 60, Schedule: "    tx1  BEGIN\n", Needed: "it takes all",
	}
	server := &Finding{ID: "w-2", Class: Server, Kind: "lost-write", Level: "RR", Transactions: []string{"sell", "waste"}, Calls: []string{"tx1 sell(1, 1)"}, File: "found/w-2.sql", Detail: "expected 1, got 2"}
	low := at("RC", 70, "w-1")
	low.Anomalies[f.Kind] = 3
	return &Report{Workload: "w.workload", Target: "mariadb:11.8", ServerVersion: "11.8.1", Levels: []string{"RC", "RR", "SER"}, Seconds: 2.5, Cases: 170,
		Cells: []*Cell{low, at("RR", 60, "w-2"), at("SER", 40)}, Findings: []*Finding{server, f}}
}

// TestJUnit: a cell is a test, which fails where something was found.
func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := reported().WriteJUnit(&b); err != nil {
		t.Fatal(err)
	}
	var got testSuites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 3 || got.Failures != 2 || len(got.Suites) != 1 || len(got.Suites[0].Cases) != 3 {
		t.Fatalf("%s", b.String())
	}
	for i, want := range []string{"isolation anomaly", "finding of the server", ""} {
		c := got.Suites[0].Cases[i]
		if c.Name != "sell × waste at "+[]string{"RC", "RR", "SER"}[i] || (c.Failure == nil) != (want == "") {
			t.Errorf("%d: %+v", i, c)
		}
		if c.Failure != nil && (c.Failure.Type != want || !strings.Contains(c.Failure.Text, "found/w-")) {
			t.Errorf("%d: %+v", i, c.Failure)
		}
	}
	if out := got.Suites[0].Cases[2].Output; !strings.Contains(out, "not seen, in 40 runs, 2 aborts (1213)") {
		t.Errorf("output %q", out)
	}
}

// TestSARIF: a finding is a result, with the rule of its class and kind and its file.
func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	if err := reported().WriteSARIF(&b, "1.2"); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Version string
					Rules   []struct{ ID string }
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	// The model has the published schema with it.
	report, err := sarif.FromBytes(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(); err != nil {
		t.Error(err)
	}
	run := got.Runs[0]
	if got.Version != "2.1.0" || run.Tool.Driver.Version != "1.2" || len(run.Results) != 2 || len(run.Tool.Driver.Rules) != 2 {
		t.Fatalf("%s", b.String())
	}
	for i, want := range []string{"workload/finding-of-the-server/lost-write", "workload/isolation-anomaly/invariant-<enough>"} {
		x := run.Results[i]
		if x.RuleID != want || run.Tool.Driver.Rules[x.RuleIndex].ID != want || x.Locations[0].PhysicalLocation.ArtifactLocation.URI != []string{"found/w-2.sql", "found/w-1.sql"}[i] {
			t.Errorf("%+v", x)
		}
	}
	if text := run.Results[1].Message.Text; !strings.Contains(text, "tx1 sell(1, 'a&b')") || !strings.Contains(text, "txnfuzz replay found/w-1.sql --target 'mariadb:11.8'") {
		t.Errorf("%s", text)
	}
}

// TestHTML: the page has the table, what stands behind each cell, and no markup of a
// workload's own.
func TestHTML(t *testing.T) {
	r := reported()
	r.Findings[0].Unexplained = true
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		`<td class="bad"><a href="#` + r.Groups[1].ID + `">2: lost update</a>`, "<section>\n" + `<h2 id="` + r.Groups[1].ID + `">2. lost update (a guess): sell × waste</h2>`, `<td class="good"><small>not seen, in 40 runs`, `<h3 id="w-1">isolation anomaly at RC: invariant &lt;enough&gt; (lost update (P4), a guess)</h3>`,
		"tx1 sell(1, &#39;a&amp;b&#39;)", `<pre tabindex="0">    tx1  BEGIN`, "4 statements besides BEGIN and COMMIT", "<li>tx1, line 9: SELECT 1</li>", "RR, in 50 runs", "<li>line 3, sell: SELECT 1 FOR UPDATE</li>", "it takes all", "look hard",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(page, "<enough>") || strings.Contains(page, "<-1>") {
		t.Error("markup of the workload's own")
	}
	b.Reset()
	if err := (&Report{Workload: "w", Levels: []string{"RC"}}).WriteHTML(&b); err != nil || !strings.Contains(b.String(), "Nothing found.") {
		t.Errorf("%v:\n%s", err, b.String())
	}
}

// TestNothingFound: that nothing was found is told with how often the rarest set ran, and
// with how many sets there are of which some level has no run.
func TestNothingFound(t *testing.T) {
	at := func(level string, runs int, names ...string) *Cell {
		return &Cell{Transactions: names, Level: level, Runs: runs}
	}
	for _, x := range []struct {
		cells []*Cell
		want  string
	}{
		{nil, "nothing found"},
		{[]*Cell{at("RC", 9, "a", "b"), at("RR", 7, "a", "b"), at("RC", 8, "b", "b"), at("RR", 9, "b", "b")}, "nothing found in 33 cases; the rarest set, a × b, ran 7 times at RR"},
		{[]*Cell{at("RC", 9, "a", "b"), at("RR", 7, "a", "b"), at("RC", 1, "b", "b"), at("RR", 0, "b", "b")}, "nothing found in 33 cases; the rarest set, b × b, ran 1 time at RC; 1 of 3 sets did not run at every level"},
	} {
		r := &Report{Levels: []string{"RC", "RR"}, Cases: 33, Sets: 3, Cells: x.cells}
		var text, page bytes.Buffer
		if err := errors.Join(r.WriteText(&text), r.WriteHTML(&page)); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(text.String(), "\n"+x.want+"\n") || !strings.Contains(page.String(), "<p>N"+x.want[1:]+".</p>") {
			t.Errorf("%s\n%s\nwant %s", text.String(), page.String(), x.want)
		}
	}
}
