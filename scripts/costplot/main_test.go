package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	models "github.com/txnfuzz/txnfuzz/oracle/model"
)

func TestCommittedPlotIsOfTheseFigures(t *testing.T) {
	var b bytes.Buffer
	if err := drawCosts(&b); err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile("costs.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), committed) {
		t.Error("costs.svg is not what costs.tsv says: go run -tags notidb ./scripts/costplot")
	}
}

func TestMalformedFigures(t *testing.T) {
	for row, want := range map[string]string{
		"Elle\t1\t2\t3":             "costs.tsv:1: 4 fields",
		"# a\nElle\t0\t2\t3\tlists": "costs.tsv:2: \"0\" is no positive number",
		"Ellie\t1\t2\t3\tlists":     "costs.tsv:1: no style for \"Ellie\"",
	} {
		if _, err := read(row); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", row, err, want)
		}
	}
}

// What is measured must be whole histories in a form that is read, and lawful ones.
func TestMadeHistoriesHold(t *testing.T) {
	for _, h := range histories {
		path := filepath.Join(t.TempDir(), "history.txt")
		if err := makeFile(path, func(w io.Writer) error { return h.make(w, 2000) }); err != nil {
			t.Fatal(err)
		}
		recorded, err := kv.LoadFile(path, "")
		if err != nil {
			t.Fatal(err)
		}
		m, err := models.Parse(model)
		if err != nil {
			t.Fatal(err)
		}
		res, err := infer.Check(recorded, infer.Options{Models: []models.Model{m}})
		if err != nil {
			t.Fatal(err)
		}
		if recorded.Len() != 2000 || res.Verdicts[m] != infer.Holds {
			t.Errorf("%s: %d transactions, %v", h.name, recorded.Len(), res.Verdicts)
		}
	}
}
