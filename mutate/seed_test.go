package mutate

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// TestStoredInputs makes the input of each of some cases: it has the full length,
// and decodes to the very case.
func TestStoredInputs(t *testing.T) {
	stored, err := corpus.LoadDir("../corpus/known")
	if err != nil {
		t.Fatal(err)
	}
	var entries []*corpus.Case
	for _, s := range stored {
		entries = append(entries, s.Case)
	}
	for i, c := range entries {
		data := StoredInput(i, len(entries))
		if len(data) != InputLen {
			t.Fatalf("%d bytes", len(data))
		}
		got := FromInput(data, entries, Options{Tables: 2})
		want := Mutate(NewBytes(nil), c, nil, Options{Tables: 2})
		if text, same := corpus.Print(got[0], corpus.Text), corpus.Print(want, corpus.Text); string(text) != string(same) {
			t.Errorf("%s:\n%s\nwant\n%s", stored[i].Path, text, same)
		}
	}
}
