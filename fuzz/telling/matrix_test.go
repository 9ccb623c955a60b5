package telling

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
)

func replayed(file, name, level, recorded string, v oracle.Verdict) findings.Replayed {
	return findings.Replayed{
		File: file, Target: name, ServerVersion: "1.0", Level: level, Verdict: v.Outcome, Kind: v.Kind, Rules: v.Rules,
		Expected: v.Expected, Actual: v.Actual, Reason: v.Reason, Recorded: recorded, Trial: target.Trial{Verdict: v},
	}
}

func matrixResults() []findings.Replayed {
	ok := oracle.Verdict{Outcome: oracle.OK}
	known := oracle.Verdict{Outcome: oracle.Known, Rules: []string{"moved-row"}, Expected: "1 affected", Actual: "0 affected"}
	wrong := oracle.Verdict{Outcome: oracle.Violation, Kind: "wrong-rows", Expected: "(1)", Actual: "<b>(2)</b>"}
	unsupported := oracle.Verdict{Outcome: oracle.Unknown, Reason: target.ReasonLevel}
	stale := oracle.Verdict{Outcome: oracle.Unknown, Reason: target.ReasonInit, Actual: "error 1136"}
	lost := oracle.Verdict{Outcome: oracle.Unknown, Reason: "loss"}
	return []findings.Replayed{
		replayed("a.sql", "one", "RU", "ok", ok), replayed("a.sql", "one", "RC", "", known), replayed("a.sql", "one", "RR", "ok", wrong),
		replayed("b.sql", "one", "RC", "", stale), replayed("b.sql", "one", "RR", "", lost),
		replayed("c.sql", "one", "tx1=RC, tx2=RR", "", known),
		replayed("a.sql", "two,x=y", "RC", "", known), replayed("a.sql", "two,x=y", "SER", "", unsupported),
		replayed("b.sql", "two,x=y", "RR", "violation wrong-rows", ok),
	}
}

const wantMatrix = `
┌───────┬──────────┬──────────┐
│ case  │ one      │ two      │
│       │          │ x=y      │
├───────┼──────────┼──────────┤
│ a.sql │ . k V* - │ - k - -  │
│ b.sql │ - ! ? -  │ - - .* - │
│ c.sql │ k        │ - - - -  │
└───────┴──────────┴──────────┘
` + legend + `

┌───────┬─────────────────────────────────────┬────────────────────┬────────────┬────────────┐
│ case  │ verdict                             │ where              │ expected   │ actual     │
├───────┼─────────────────────────────────────┼────────────────────┼────────────┼────────────┤
│ a.sql │ known moved-row                     │ one RC             │ 1 affected │ 0 affected │
│       │                                     │ two,x=y RC         │            │            │
├───────┼─────────────────────────────────────┼────────────────────┼────────────┼────────────┤
│ a.sql │ violation wrong-rows (recorded: ok) │ one RR             │ (1)        │ <b>(2)</b> │
├───────┼─────────────────────────────────────┼────────────────────┼────────────┼────────────┤
│ b.sql │ set-up failed                       │ one RC             │            │ error 1136 │
├───────┼─────────────────────────────────────┼────────────────────┼────────────┼────────────┤
│ b.sql │ unknown loss                        │ one RR             │            │            │
├───────┼─────────────────────────────────────┼────────────────────┼────────────┼────────────┤
│ b.sql │ ok (recorded: violation wrong-rows) │ two,x=y RR         │            │            │
├───────┼─────────────────────────────────────┼────────────────────┼────────────┼────────────┤
│ c.sql │ known moved-row                     │ one tx1=RC, tx2=RR │ 1 affected │ 0 affected │
└───────┴─────────────────────────────────────┴────────────────────┴────────────┴────────────┘
`

func TestMatrix(t *testing.T) {
	m := NewMatrix(matrixResults())
	var b strings.Builder
	if err := m.WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimPrefix(wantMatrix, "\n"), b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, b.String())
	}
	want := "3 cases, 2 targets, 8 runs: 2 ok, 3 known, 1 violation, 2 unknown; 2 other than recorded"
	if got := m.Summary(); got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
}

// A single case is told in full, with the same marks.
func TestReplayText(t *testing.T) {
	const want = `
┌───────┬────────┬───────┬────────────┬────────────┬────────────┬────────────┐
│ file  │ target │ level │ verdict    │ what       │ expected   │ actual     │
├───────┼────────┼───────┼────────────┼────────────┼────────────┼────────────┤
│ a.sql │ one    │ RU    │ ok         │            │            │            │
│ a.sql │ one    │ RC    │ known      │ moved-row  │ 1 affected │ 0 affected │
│ a.sql │ one    │ RR    │ violation* │ wrong-rows │ (1)        │ <b>(2)</b> │
└───────┴────────┴───────┴────────────┴────────────┴────────────┴────────────┘
* other than recorded at RR: ok
`
	var b strings.Builder
	if err := WriteReplayText(&b, matrixResults()[:3]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), b.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMatrixAsHTML(t *testing.T) {
	m := NewMatrix(matrixResults())
	var b strings.Builder
	stored := corpus.Stored{Path: "a.sql", Case: targettest.Case(t, "-- source: <x>\n-- verdict (one, RR): ok\n/* tx1 */ SELECT 1 < 2;")}
	if err := m.WriteHTML(&b, []corpus.Stored{stored}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, part := range []string{
		`<span class="violation" title="one at RR: violation wrong-rows">V*</span>`, "two,x=y<br><small>1.0</small>",
		"SELECT 1 &lt; 2;", "source: &lt;x&gt;", "&lt;b&gt;(2)&lt;/b&gt;", `href="#` + anchor("a.sql") + `"`, `id="` + anchor("a.sql") + `"`, "recorded: ok", m.Summary(),
	} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q on the page", part)
		}
	}
	for _, part := range []string{"<b>(2)", "verdict (one"} {
		if strings.Contains(page, part) {
			t.Errorf("%q is on the page", part)
		}
	}
}
