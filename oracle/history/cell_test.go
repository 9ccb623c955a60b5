package history

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// What a person reads of values.
func TestCellString(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"", ""}, {"12", "12"}, {"é, (1)", "é, (1)"}, {"\uFFFD", "\uFFFD"},
		{"\x00", "0x00"}, {"\x05", "0x05"}, {"\x0a\xaa", "0x0aaa"}, {"\xff", "0xff"}, {"a\nb", "0x610a62"}, {"\x1b[2J", "0x1b5b324a"},
	} {
		if got := (Cell{Text: x.text}).String(); got != x.want {
			t.Errorf("%q is printed as %q, want %q", x.text, got, x.want)
		}
	}
	for _, x := range []struct{ text, want string }{{"A", "0x41"}, {"\x01\x02", "0x0102"}} {
		c := Cell{Text: x.text, Bit: true}
		if got := c.String(); got != x.want {
			t.Errorf("the BIT %q is printed as %q, want %q", x.text, got, x.want)
		}
		if c.Key() != (Cell{Text: x.text}).Key() {
			t.Errorf("the BIT %q differs from the same bytes without a type", x.text)
		}
	}
	if got := (Cell{Null: true, Bit: true}).String(); got != "NULL" {
		t.Errorf("NULL is printed as %q", got)
	}
}

// Whatever the bytes, they are printed as text on one line, and a file of JSON keeps them.
func TestCellKeepsBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Cell{Text: string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))}
		if c.Bit = rapid.Bool().Draw(t, "bit"); rapid.Bool().Draw(t, "null") {
			c = Cell{Null: true}
		}
		if s := c.String(); !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
			t.Errorf("%q is printed as %q", c.Text, s)
		}
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back Cell
		if err := json.Unmarshal(text, &back); err != nil || back != c {
			t.Errorf("%+q became %s, then %+q, %v", c, text, back, err)
		}
	})
}
