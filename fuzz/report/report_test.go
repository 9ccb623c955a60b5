package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/fuzz/browsertest"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// items reads recorded runs: those of published cases that show something, and
// one whose values are markup.
func items(t *testing.T) []Item {
	t.Helper()
	var out []Item
	for _, file := range []string{filepath.Join("testdata", "hostile.jsonl"), filepath.Join("..", "..", "oracle", "testdata", "published", "innodb.jsonl")} {
		records, err := oracle.LoadRecords(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range records {
			c, err := corpus.Parse(file, []byte(r.Case))
			if err != nil {
				t.Fatal(err)
			}
			v := oracle.Check(c, r.History)
			if v.Outcome != oracle.Known && v.Outcome != oracle.Violation {
				continue
			}
			out = append(out, Item{Reproduced: "10/10", Run: timeline.Run{
				File: fmt.Sprintf("found/%s-%d.sql", filepath.Base(file), i), Target: "mariadb:10.11", Case: c, Levels: r.History.Levels, History: r.History, Verdict: v,
				Reduction: &timeline.Reduction{LinesBefore: 20, LinesAfter: 8, CharactersBefore: 900, CharactersAfter: 200, Attempts: 60, Minimal: true,
					Path: []timeline.Reduced{{Attempt: 3, Layer: "statements", Operation: "run", Lines: 12, Characters: 500}, {Attempt: 40, Layer: "clauses", Operation: "column", Lines: 8, Characters: 200}}},
			}})
		}
	}
	if len(out) < 10 {
		t.Fatalf("only %d recorded runs show something", len(out))
	}
	return out
}

func pageOf(t *testing.T, list []Item) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, "a <title>", list); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestBrowser opens the page in a real browser, which must find nothing to
// complain of and must have made text of what looks like markup.
func TestBrowser(t *testing.T) {
	browser := browsertest.Program(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, pageOf(t, items(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(dir, "profile"), "--enable-logging=stderr", "--dump-dom", "file://"+file)
	var log bytes.Buffer
	cmd.Stderr = &log
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	for _, line := range strings.Split(log.String(), "\n") {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the browser complains: %s", line)
		}
	}
	text := string(dom)
	for _, part := range []string{
		`class="lane c0 in out"`, "outwait", // a lane, and a wait on one
		`class="val x"`, `class="val w"`, // cells that differ
		`class="v seen"`, "framed: what the step had to see",
		"&lt;script&gt;alert(1)&lt;/script&gt;", "<polyline points=", "txnfuzz replay found/",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	for _, element := range []string{"<script", "<img", "onerror=\"", "<title>a <title>"} {
		if strings.Contains(text, element) {
			t.Errorf("the page has an element %s that comes from a value", element)
		}
	}
}

// TestCaps makes sure that a page stays small, and says so.
func TestCaps(t *testing.T) {
	all := items(t)
	var many []Item
	for len(many) < maxDrawn+50 {
		many = append(many, all[len(many)%len(all)])
	}
	text := string(pageOf(t, many))
	if want := "50 more are listed above"; !strings.Contains(text, want) {
		t.Errorf("no %q", want)
	}
	if len(text) > 2<<20 {
		t.Errorf("the page has %d bytes", len(text))
	}
	silent := all[0]
	silent.History = nil
	for i, want := range []bool{false, true} {
		if got := strings.Contains(string(pageOf(t, []Item{all[0], silent}[i:i+1])), "is not recorded"); got != want {
			t.Errorf("item %d: the page says that nothing is recorded: %v", i, got)
		}
	}
	long := shorten(strings.Repeat("x", 10000))
	if len(long) > maxText+40 || !strings.HasSuffix(long, "(9600 more characters)") {
		t.Errorf("a long value became %q", long[len(long)-60:])
	}
	if text := string(pageOf(t, nil)); !strings.Contains(text, "There is no case here") {
		t.Error("an empty page does not say so")
	}
}

// TestSVG reads the drawings back as XML.
// TestBisected: the page tells what bisect has written into a header, and escapes it.
// TestPageSaysHowItRan: the page names the members of a cluster that the sessions were on, and its case has the protocol
// without which it need not show the same.
func TestPageSaysHowItRan(t *testing.T) {
	list := items(t)[:1]
	plain := string(pageOf(t, list))
	h := *list[0].History
	h.Cluster = &history.Cluster{Form: "Galera cluster of 2 nodes", Members: []string{"node1", "node2"}}
	list[0].History, list[0].Case = &h, list[0].Case.Clone()
	list[0].Case.SetProtocol(protocol.Mixed(42))
	page := string(pageOf(t, list))
	for _, want := range []string{"tx1 on node1", "-- protocol: mixed 42\n"} {
		if strings.Contains(plain, want) || !strings.Contains(page, want) {
			t.Errorf("%q is in the page of one server, sent as text, or not in the other", want)
		}
	}
}

func TestBisected(t *testing.T) {
	list := items(t)[:1]
	if strings.Contains(string(pageOf(t, list)), "By version") {
		t.Error("versions of a case that was not bisected")
	}
	list[0].Case = list[0].Case.Clone()
	list[0].Case.Set(timeline.KeyVersions, "absent in 11.22; shows in 12.22")
	list[0].Case.Set(timeline.KeyFixed, "0123456789ab (2020-02-02) Faster <joins>")
	want := "<p>By version: absent in 11.22; shows in 12.22.<br>It is fixed by commit 0123456789ab (2020-02-02) Faster &lt;joins&gt;.</p>"
	if page := string(pageOf(t, list)); !strings.Contains(page, want) {
		t.Errorf("no %s in\n%s", want, page)
	}
}

func TestSVG(t *testing.T) {
	for _, it := range items(t) {
		var b bytes.Buffer
		if err := SVG(&b, timeline.Of(it.Run)); err != nil {
			t.Fatal(err)
		}
		names := map[string]int{}
		for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", it.File, err, b.Bytes())
			}
			if e, ok := token.(xml.StartElement); ok {
				names[e.Name.Local]++
			}
		}
		if names["circle"] < len(it.Case.Steps) || names["script"] > 0 || names["img"] > 0 {
			t.Errorf("%s: elements %v for %d steps", it.File, names, len(it.Case.Steps))
		}
	}
}

func TestCompareRows(t *testing.T) {
	row := func(texts ...string) []history.Cell {
		var out []history.Cell
		for _, s := range texts {
			out = append(out, history.Cell{Text: s, Null: s == ""})
		}
		return out
	}
	type rows = [][]history.Cell
	print := func(pairs []pair) string {
		var b strings.Builder
		for _, p := range pairs {
			for i, side := range [][]cell{p.Expected, p.Actual} {
				if i > 0 {
					b.WriteString("|")
				}
				for _, c := range side {
					b.WriteString(c.Text)
					if c.Differs {
						b.WriteString("!")
					}
				}
			}
			b.WriteString(" ")
		}
		return strings.TrimSpace(b.String())
	}
	for _, x := range []struct {
		name             string
		expected, actual rows
		ordered          bool
		want             string
	}{
		{"equal bags", rows{row("1", "a"), row("2", "b")}, rows{row("2", "b"), row("1", "a")}, false, "1a|1a 2b|2b"},
		{"one cell", rows{row("1", "a"), row("2", "b")}, rows{row("2", "c"), row("1", "a")}, false, "1a|1a 2b!|2c!"},
		{"equal rows before similar ones", rows{row("1", "a"), row("1", "b")}, rows{row("1", "b"), row("2", "b")}, false, "1!a!|2!b! 1b|1b"},
		{"missing and extra", rows{row("1", "a")}, nil, false, "1!a!|"},
		{"extra", nil, rows{row("1", "")}, false, "|1!NULL!"},
		{"order", rows{row("1"), row("2")}, rows{row("2"), row("1")}, true, "1!|2! 2!|1!"},
	} {
		if got := print(compareRows(x.expected, x.actual, x.ordered)); got != x.want {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{"a/b-c.sql": "a/b-c.sql", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "mysql:9.7,binlog=off": "mysql:9.7,binlog=off"} {
		if got := quoted(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if !slices.Equal(wrap("aa bb ccccccccccc", 8), []string{"aa bb", "cccccccc", "ccc"}) {
		t.Errorf("%q", wrap("aa bb ccccccccccc", 8))
	}
}
