package campaign

import "testing"

func TestParseSQL(t *testing.T) {
	for text, want := range map[string]struct {
		b            Breadth
		e            SessionEnds
		breadth, end bool
		wrong        bool
	}{
		"":            {},
		"known":       {b: KnownSQL, breadth: true},
		"wide":        {b: WideSQL, breadth: true},
		"kill":        {e: AllEnds, end: true},
		"nokill":      {e: NoEnds, end: true},
		"mixed,kill":  {b: MixedSQL, e: AllEnds, breadth: true, end: true},
		"kill,known":  {b: KnownSQL, e: AllEnds, breadth: true, end: true},
		"kill,nokill": {wrong: true},
		"known,wide":  {wrong: true},
		"kil":         {wrong: true},
		"known,":      {wrong: true},
	} {
		b, e, said, err := ParseSQL(text)
		if (err != nil) != want.wrong || err == nil && (b != want.b || e != want.e || said.Breadth != want.breadth || said.Ends != want.end) {
			t.Errorf("%q: %q, %d, %+v, %v", text, b, e, said, err)
		}
	}
}
