package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
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
