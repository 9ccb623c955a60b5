package main

import (
	"os"
	"strings"
	"testing"
)

// TestPageIsCurrent compares the page in docs with the table and the stored cases.
func TestPageIsCurrent(t *testing.T) {
	var b strings.Builder
	if err := page(&b, "../../corpus"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != b.String() {
		t.Error("docs/rules.md is out of date: go run -tags notidb ./scripts/rules > docs/rules.md")
	}
}
