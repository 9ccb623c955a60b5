package telling

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// The JSON of a finding and of a replay has the names as a list, empty where there is none.
func TestJSONNamesAnomaly(t *testing.T) {
	r := targettest.Skewed(t, "../..")
	for _, x := range []any{&findings.Finding{Anomaly: r.Anomalies()}, &findings.Replayed{Anomaly: r.Anomalies()}} {
		text, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Anomaly []struct{ Name, Kind, Cycle string } `json:"anomaly"`
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Anomaly) != 1 || got.Anomaly[0].Name != targettest.Skew || got.Anomaly[0].Kind != string(model.GSingleItem) || !strings.HasPrefix(got.Anomaly[0].Cycle, "in step 3 tx1 did not see") {
			t.Errorf("%s", text)
		}
	}
	text, err := json.Marshal((&target.Trial{}).Anomalies())
	if err != nil || string(text) != "[]" {
		t.Errorf("%s %v, want an empty list", text, err)
	}
}

func sighted() []findings.Replayed {
	a := func(cycle string) []oracle.Anomaly {
		return []oracle.Anomaly{{Name: targettest.Skew, Kind: model.GSingleItem, Cycle: cycle, Drawing: &graph.Drawing{
			Title: targettest.Skew, Nodes: []string{"tx1", "tx2"}, Edges: []graph.Arrow{{From: 0, To: 1, Label: "rw (<i>) of t\nstep 1 → step 2"}, {From: 1, To: 0, Label: "wr"}},
		}}}
	}
	ok := oracle.Verdict{Outcome: oracle.OK}
	out := []findings.Replayed{replayed("a.sql", "one", "RU", "", ok), replayed("a.sql", "one", "RC", "", ok), replayed("a.sql", "one", "RR", "", ok), replayed("b.sql", "one", "RC", "", ok), replayed("a.sql", "two", "RU", "", ok)}
	out[0].Anomaly, out[1].Anomaly, out[4].Anomaly = a("in step 1 <i>"), a("at RC"), a("on two")
	return out
}

func TestMatrixNamesAnomalies(t *testing.T) {
	const want = `
┌───────┬──────────────────────┬───────────┐
│ case  │ anomaly              │ where     │
├───────┼──────────────────────┼───────────┤
│ a.sql │ read skew (G-single) │ one RU RC │
│       │                      │ two RU    │
└───────┴──────────────────────┴───────────┘
`
	m := NewMatrix(sighted())
	var b strings.Builder
	if err := m.WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), legend+"\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var page bytes.Buffer
	if err := m.WriteHTML(&page, []corpus.Stored{{Path: "a.sql", Case: targettest.Case(t, "/* tx1 */ SELECT 1;")}}); err != nil {
		t.Fatal(err)
	}
	for part, n := range map[string]int{"<svg": 1, ">rw (&lt;i&gt;) of t</text>": 1, "in step 1 &lt;i&gt;": 1, "<h3>" + targettest.Skew + "</h3>": 1, "one RU RC<br>two RU<br>": 1, "<i>": 0} {
		if got := strings.Count(page.String(), part); got != n {
			t.Errorf("%q is %d times on the page, want %d", part, got, n)
		}
	}
	b.Reset()
	if err := WriteReplayText(&b, sighted()[:1]); err != nil {
		t.Fatal(err)
	}
	if want := "RU: read skew (G-single): in step 1 <i>\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("no %q behind\n%s", want, b.String())
	}
}
