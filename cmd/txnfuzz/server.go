package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/fuzz"
)

func newServer() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "server TARGET",
		Short: "Start a private server, print its DSN, and wait",
		Long: `Starts a private server with throw-away data, prints its DSN on the first line
and waits for Ctrl-C, which ends the server and removes its files.`,
		Example: `  txnfuzz server mariadb:11.8
  txnfuzz server mysql:9.7,binlog=off
  txnfuzz server mariadb:10.11 --server-opt innodb_snapshot_isolation=ON --server-opt sql_mode=`,
		Args: exactly(1, "one target"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return fuzz.Serve(cmd.Context(), args[0], cmd.ErrOrStderr(), func(dsn string) error {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), dsn)
				return err
			})
		},
	}
	addServerOpts(cmd, firstArgument)
	return cmd
}
