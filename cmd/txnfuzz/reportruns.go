package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
	"github.com/txnfuzz/txnfuzz/fuzz/runs"
)

// reportRuns writes the page of a series of runs.
func reportRuns(cmd *cobra.Command, paths []string, html string) error {
	set, err := runs.Load(paths)
	if err != nil {
		return usagef("--runs: %w", err)
	}
	for _, u := range set.Unread {
		fmt.Fprintf(cmd.ErrOrStderr(), "txnfuzz: not read: %s: %s\n", u.File, u.Why)
	}
	if len(set.Runs) == 0 {
		return usagef("--runs: there is no JSON file of a run in %s (txnfuzz run --json FILE writes one)",
			strings.Join(paths, ", "))
	}
	dir := "."
	if html != "-" {
		dir = filepath.Dir(html)
	}
	var names []string
	for _, p := range paths {
		names = append(names, filepath.Base(filepath.Clean(p)))
	}
	title := "Runs in " + strings.Join(names, ", ")
	err = writeOutput(html, cmd.OutOrStdout(), func(w io.Writer) error { return runs.Write(w, title, dir, set) })
	if err == nil && html != "-" {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", html, spelling.Count(len(set.Runs), "run"))
	}
	return err
}
