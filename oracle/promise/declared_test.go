package promise

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func TestParseDeclared(t *testing.T) {
	for text, want := range map[string]string{
		"RR=SI":                     "",
		"RR=SI, SER=S,RC=statement": "",
		"RR":                        "want LEVEL=PROMISE",
		"":                          "want LEVEL=PROMISE",
		"RX=SI":                     "unknown isolation level",
		"RR=si":                     "no promise is called",
		"RR=SI,rr=S":                "has a promise already",
	} {
		levels, err := ParseDeclared(text)
		if again, wrong := ParseDeclared(Text(levels)); err == nil && (wrong != nil || !maps.Equal(again, levels)) {
			t.Errorf("%q is printed as %q", text, Text(levels))
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestMerge: what two transactions wrote on one snapshot gives the same tables in either order, and a
// conflict in one order is one in the other.
func TestMerge(t *testing.T) {
	l := layout{{name: "t", columns: []string{"a", "b", "c"}, key: []int{0}}}
	r := rand.New(rand.NewPCG(3, 4))
	random := func(from state) state {
		table := history.Table{Name: "t", Columns: l[0].columns}
		for key := range 3 {
			k := history.Cell{Text: string(rune('0' + key))}
			b, c := history.Cell{Text: "b"}, history.Cell{Text: "c"}
			if e, there := from[0][textOf([]history.Cell{k})]; there {
				b, c = e.cells[1], e.cells[2]
			}
			switch r.IntN(5) {
			case 0:
				continue // it is not there
			case 1:
				b.Text += string(rune('x' + r.IntN(2)))
			case 2:
				c.Text += string(rune('x' + r.IntN(2)))
			}
			table.Rows = append(table.Rows, []history.Cell{k, b, c})
		}
		s, _ := l.read([]history.Table{table})
		return s
	}
	merged, conflicts := 0, 0
	for range 4000 {
		base := random(state{content{}})
		a, b := random(base), random(base)
		mine, theirs := l.difference(base, a), l.difference(base, b)
		onB, clash := l.merge(base, b, mine)
		onA, other := l.merge(base, a, theirs)
		if (clash == "") != (other == "") {
			t.Fatalf("on %v, %s and %s: %q one way, %q the other", base, l.text(mine), l.text(theirs), clash, other)
		}
		if clash != "" {
			conflicts++
			continue
		}
		merged++
		one, _ := l.plus(b, onB)
		two, _ := l.plus(a, onA)
		if !l.difference(one, two).empty() {
			t.Fatalf("on %v, %s and %s: %v one way, %v the other", base, l.text(mine), l.text(theirs), one, two)
		}
	}
	if merged < 500 || conflicts < 500 {
		t.Errorf("%d merged, %d in conflict", merged, conflicts)
	}
}
