package workload

import (
	"errors"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// debris is what a text is spoiled with.
var debris = []string{
	"/* schema */", "/* transaction t (", "/* transaction t (:a INT) */", "/* unless", "/* unless :x > 1: rollback */", "/* repeat */", "/* repeat :n */", "/* end */",
	"/* invariant i */", "/* invariant i one of", "/* sample a.b */", "/* rows a 1..2 */", "/* rows a 2..1 */", "/*", "*/", "/*!", "/*+", "-- ", "#", ";", ";;", "'", "\"", "`", "\\",
	"(", ")", ",", ":", ":x", "::", ":=", "@", "@@global.x", "@x", "INTO", "INTO :x", "INTO :x, :x INTO :y", "..", "weight 0", "weight", "retry", "retry 9999999999999999999",
	"one of (", "1..", "99999999999999999999", "\n", "\r\n", "\x00", "\xff", "\ufeff", "é", "?", "NULL", "SELECT", "CREATE TABLE t (", "NOW()", "BEGIN;", "COMMIT;", "x'4", "1e999",
}

// spoil changes a text in one way that a careless hand might.
func spoil(r *rand.Rand, text string, others []string) string {
	at := r.IntN(len(text) + 1)
	end := min(at+r.IntN(40), len(text))
	switch r.IntN(8) {
	case 0:
		return text[:at]
	case 1:
		return text[:at] + text[end:]
	case 2:
		return text[:end] + text[at:]
	case 3, 4, 5:
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

var malformed = flag.Int("malformed", 2_000, "how many malformed workloads TestMalformed makes")

// TestMalformed spoils workloads until many were refused. None makes the reader panic,
// each error is at a place in the file, and what is not refused prints and is read
// again.
func TestMalformed(t *testing.T) {
	want := *malformed
	var texts []string
	for _, text := range examples(t) {
		texts = append(texts, string(text))
	}
	r := rand.New(rand.NewPCG(26, 1))
	refused, read := 0, 0
	for refused < want {
		text := texts[r.IntN(len(texts))]
		for range 1 + r.IntN(3) {
			text = spoil(r, text, texts)
		}
		w, err := Parse("w.workload", []byte(text))
		if err != nil {
			refused++
			place(t, err, text)
			continue
		}
		read++
		if read%16 != 0 { // parsing is slow, and most are read as they were
			continue
		}
		printed := Print(w)
		again, err := Parse("w.workload", printed)
		if err != nil {
			t.Fatalf("what was read does not print: %v\n%s\nprinted:\n%s", err, text, printed)
		}
		if s := Print(again); string(s) != string(printed) {
			t.Fatalf("printed twice it differs:\n%s\n%s", printed, s)
		}
	}
	t.Logf("%d refused, %d read", refused, read)
}

// place fails if an error is at no place of a text.
func place(t testing.TB, err error, text string) {
	t.Helper()
	var at *corpus.ParseError
	if !errors.As(err, &at) {
		t.Fatalf("no ParseError: %v\n%s", err, text)
	}
	lines := 1
	for _, c := range text {
		if c == '\n' {
			lines++
		}
	}
	if at.File != "w.workload" || at.Line < 1 || at.Line > lines || at.Column < 1 || at.Msg == "" {
		t.Fatalf("%v is at no place of\n%s", err, text)
	}
}

// FuzzParse is the same for Go's engine.
func FuzzParse(f *testing.F) {
	for _, text := range examples(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if w, err := Parse("w.workload", text); err != nil {
			place(t, err, string(text))
		} else if again, err := Parse("w.workload", Print(w)); err != nil {
			t.Fatalf("what was read does not print: %v\n%s", err, Print(w))
		} else if string(Print(again)) != string(Print(w)) {
			t.Fatalf("printed twice it differs:\n%s\n%s", Print(w), Print(again))
		}
	})
}
