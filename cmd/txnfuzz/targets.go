package main

import (
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/telling"
)

func newTargets() *cobra.Command {
	return &cobra.Command{
		Use:     "targets",
		Short:   "List the servers that can be tested here, with their versions",
		Example: `  txnfuzz targets`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := table.NewWriter()
			t.SetStyle(telling.TableStyle())
			t.AppendHeader(table.Row{"target", "version", "available", "note"})
			for _, x := range target.Targets(cmd.Context()) {
				available := "no"
				if x.Available {
					available = "yes"
				}
				t.AppendRow(table.Row{x.Name, x.Version, available, x.Note})
			}
			t.AppendRow(table.Row{"user:pass@tcp(host:port)/", "", "yes", "any server that you may log in to and create databases on"})
			t.AppendRow(table.Row{"postgres://user:pass@host:port/", "", "yes", "any PostgreSQL that you may log in to and create schemas on"})
			_, err := io.WriteString(cmd.OutOrStdout(), t.Render()+"\n"+
				"A private server takes variants behind its name: ,binlog=off|row (MySQL, MariaDB)  ,replica=row|mixed|statement (MySQL, MariaDB)  ,standby=1 (PostgreSQL)  ,snapshot=on|off (MariaDB)  ,NAME=VALUE (any other server variable).\n")
			return err
		},
	}
}
