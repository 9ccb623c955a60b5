package corpus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Pieces that a text is spoiled with: what the two forms and their statements
// are made of, and what no text should hold.
var debris = []string{
	"/* init */", "/* tx1 */", "/* tx0 */", "/* tx1000 */", "/*", "*/", "/*!", "/*+", "-- ", "--", "# ", ";", ";;", "'", "\"", "`", "\\", "(", ")", ",",
	"\n", "\r\n", "\n\n", "\x00", "\xff", "\ufeff", "\u2028", "é", "?", "@@global.x", "-- level: XX\n", "-- level: tx1=RC, tx1=RR\n", "-- verdict (", "END\n",
	"1-2-1\n", "1-9\n", "RC\n", "SELECT", "NULL", "1e999", "x'4", "0b2", "9999999999999999999999", "CREATE TABLE t (", " AS OF ", "\\'", "DELIMITER //",
}

// spoil changes a text in one way that a careless hand or a full disk might.
func spoil(r *rand.Rand, text string, others []string) string {
	at := r.IntN(len(text) + 1)
	end := min(at+r.IntN(40), len(text))
	switch r.IntN(8) {
	case 0, 1, 2:
		return text[:at]
	case 3:
		return text[:at] + text[end:]
	case 4:
		return text[:end] + text[at:]
	case 5:
		return text[:at] + debris[r.IntN(len(debris))] + text[at:]
	case 6:
		other := others[r.IntN(len(others))]
		return text[:at] + other[r.IntN(len(other)+1):]
	default:
		b := []byte(text)
		if len(b) > 0 {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		return string(b)
	}
}

// TestMalformed spoils and truncates cases in either form until 10,000 were
// refused. None makes the reader panic, and each error is at a place in the file:
// name, line and column.
func TestMalformed(t *testing.T) {
	const files = 10_000
	texts := slices.Clone(parserSeeds)
	for _, dir := range []string{"known", "found"} {
		stored, err := LoadCommitted(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range stored {
			// Headers are comments, which nothing can spoil: keep them short.
			s.Case.Header = s.Case.Header[:min(2, len(s.Case.Header))]
			texts = append(texts, string(Print(s.Case, Text)))
		}
	}
	var blocks []string
	for _, e := range goldenEntries(t, filepath.Join("testdata", "blocks")) {
		blocks = append(blocks, e.input)
	}
	texts = append(texts, blocks...)
	r := rand.New(rand.NewPCG(1, 2))
	refused, accepted := 0, 0
	reasons := map[string]bool{}
	for n := 0; refused < files; n++ {
		text := texts[r.IntN(len(texts))]
		inBlocks := n%4 == 3
		if inBlocks {
			text = blocks[r.IntN(len(blocks))]
		}
		for range 1 + r.IntN(3) {
			text = spoil(r, text, texts)
		}
		var err error
		if inBlocks {
			_, err = ParseBlocks("dir/case.txt", []byte(text))
		} else {
			_, err = Parse("dir/case.txt", []byte(text))
		}
		if err == nil {
			accepted++
			continue
		}
		refused++
		var p *ParseError
		if !errors.As(err, &p) {
			t.Fatalf("%T is not a *ParseError: %v\n%s", err, err, text)
		}
		reasons[p.Msg] = true
		lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
		switch {
		case p.Line < 1 || p.Line > len(lines):
			t.Errorf("%v: the text has %d lines\n%q", err, len(lines), text)
		case p.Column < 1 || p.Column > len(lines[p.Line-1])+1:
			t.Errorf("%v: the line has %d bytes\n%q", err, len(lines[p.Line-1]), text)
		case err.Error() != fmt.Sprintf("dir/case.txt:%d:%d: %s", p.Line, p.Column, p.Msg) || p.Msg == "":
			t.Errorf("%v: want file:line:column: message", err)
		}
	}
	if accepted == 0 || accepted > refused {
		t.Errorf("%d refused, %d still cases: the texts are spoiled too much or too little", refused, accepted)
	}
	t.Logf("%d refused with %d different messages, %d still cases", refused, len(reasons), accepted)
}
