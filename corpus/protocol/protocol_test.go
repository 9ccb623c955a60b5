package protocol

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Protocol{
		"text": {}, "prepare": All(Prepare), "execute": All(Execute), "mixed 0": Mixed(0), "mixed 42": Mixed(42), "mixed": {mixed: true},
	} {
		p, err := Parse(text)
		if err != nil || p != want {
			t.Errorf("%s: %v %v", text, p, err)
		}
		var back Protocol
		b, err := json.Marshal(p)
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || back != p || p.IsText() != (text == "text") || p.IsMixed() != strings.HasPrefix(text, "mixed") {
			t.Errorf("%s: read back as %v: %v", text, back, err)
		}
	}
	for _, text := range []string{"", "binary", "Prepare", "mixed x", "mixed -1", "text 1", "mixed 1 2"} {
		if p, err := Parse(text); err == nil {
			t.Errorf("%q is read as %v", text, p)
		}
	}
}

// TestSeedThatWasGiven: a seed that was given stays, and names the protocol; another one does not.
func TestSeedThatWasGiven(t *testing.T) {
	for text, want := range map[string][2]string{
		"mixed": {"mixed 7", "mixed"}, "mixed 42": {"mixed 42", "mixed 42"}, "mixed 0": {"mixed 0", "mixed 0"},
		"execute": {"execute", "execute"},
	} {
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if p = p.Seeded(7); p.String() != want[0] || p.Name() != want[1] {
			t.Errorf("%s with the seed 7 of a run: %s, called %s; want %q", text, p, p.Name(), want)
		}
	}
}

// TestMixedDraws: the same seed draws the same, another one otherwise, and each way comes as often as the others.
func TestMixedDraws(t *testing.T) {
	draw := func(p Protocol) (all []Way) {
		for session := range 3 {
			for _, sql := range []string{"SELECT 1", "UPDATE t SET a = 1", "COMMIT"} {
				for nth := range 200 {
					all = append(all, p.Of(session, sql, nth))
				}
			}
		}
		return all
	}
	one, again, other := draw(Mixed(7)), draw(Mixed(7)), draw(Mixed(8))
	same, count := 0, [3]int{}
	for i := range one {
		count[one[i]]++
		if one[i] != again[i] {
			t.Fatalf("draw %d is %v and then %v", i, one[i], again[i])
		}
		if one[i] == other[i] {
			same++
		}
	}
	for w, n := range count {
		if n < len(one)/4 {
			t.Errorf("%s was drawn %d times of %d", Way(w), n, len(one))
		}
	}
	if same > len(one)/2 {
		t.Errorf("another seed draws the same %d times of %d", same, len(one))
	}
}

func TestSimpler(t *testing.T) {
	for p, want := range map[Protocol]string{
		{}: "", All(Prepare): "text", All(Execute): "text prepare", Mixed(3): "text prepare execute",
	} {
		var got []string
		for _, s := range p.Simpler() {
			got = append(got, s.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", p, got, want)
		}
	}
}
