package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
)

// postgresTable writes the table of PostgreSQL's published bugs; stored is the folder of cases.
func postgresTable(w io.Writer, stored string) error {
	cases, err := corpus.LoadCommitted(filepath.Join(stored, "known"))
	if err != nil {
		return fmt.Errorf("read the published cases: %w", err)
	}
	var b strings.Builder
	b.WriteString("| CASE | what is published | affected | shows on | verdict there | elsewhere |\n| --- | --- | --- | --- | --- | --- |\n")
	for _, s := range cases {
		name := filepath.Base(s.Path)
		if !strings.HasPrefix(name, "postgres-") {
			continue
		}
		get := func(key string) string {
			v, _ := s.Case.Get(key)
			return v
		}
		what := get("source")
		if link := get("link"); link != "" {
			what = "[" + what + "](" + link + ")"
		}
		there, elsewhere := verdictsOf(s.Case, get("shows"))
		fmt.Fprintf(&b, "| [%s](../corpus/known/%s) | %s. %s | %s | %s | %s | %s |\n",
			strings.TrimSuffix(name, corpus.Ext), name, what, get("status"), get("affected"), get("shows"), there, elsewhere)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// verdictsOf are the verdicts on the versions of PostgreSQL that show a bug, and on those that do not.
func verdictsOf(c *corpus.Case, shows string) (there, elsewhere string) {
	var on, off []string
	for _, cell := range findings.RecordedCells(c) {
		version, is := strings.CutPrefix(cell.Target, "postgres ")
		if !is {
			continue
		}
		list := &off
		if shows == "all" || slices.Contains(strings.Split(shows, ", "), version) {
			list = &on
		}
		// The reason of what is unknown is the case's own business.
		verdict := cell.Verdict
		if strings.HasPrefix(verdict, "unknown") {
			verdict = "unknown"
		}
		if !slices.Contains(*list, verdict) {
			*list = append(*list, verdict)
		}
	}
	text := func(list []string) string {
		if len(list) == 0 {
			return "–"
		}
		return strings.Join(list, ", ")
	}
	return text(on), text(off)
}
