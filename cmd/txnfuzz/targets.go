package main

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/fuzz"
	"github.com/txnfuzz/txnfuzz/harness"
)

func newTargets() *cobra.Command {
	return &cobra.Command{
		Use:     "targets",
		Short:   "List what can be tested here, with versions",
		Example: `  txnfuzz targets`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := table.NewWriter()
			t.SetStyle(fuzz.TableStyle())
			t.AppendHeader(table.Row{"target", "version", "available", "note"})
			for _, x := range harness.Available(cmd.Context()) {
				available := "no"
				if x.Available {
					available = "yes"
				}
				t.AppendRow(table.Row{x.Name, x.Version, available, x.Note})
			}
			t.AppendRow(table.Row{"user:pass@tcp(host:port)/", "", "yes", "any server that you may log in to and create databases on"})
			_, err := io.WriteString(cmd.OutOrStdout(), t.Render()+"\n")
			return err
		},
	}
}
