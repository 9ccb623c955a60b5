package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/fuzz"
)

func newServer() *cobra.Command {
	var target func([]string) []*string
	cmd := &cobra.Command{
		Use:   "server TARGET",
		Short: "Start a private server, print its DSN, and wait",
		Long: `Starts a private server with throw-away data, prints its DSN on the first line
and waits for Ctrl-C, which ends the server and removes its files.`,
		Example: `  txnfuzz server mariadb:11.8
  txnfuzz server mysql:9.7,binlog=off
  txnfuzz server mariadb:10.11 --server-opt innodb_snapshot_isolation=ON --server-opt sql_mode=`,
		Args: targetArgument(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			return fuzz.Serve(cmd.Context(), *target(args)[0], cmd.ErrOrStderr(), func(dsn string) error {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), dsn)
				return err
			})
		},
	}
	target = firstArgument(cmd)
	addServerOpts(cmd, target)
	return cmd
}
