package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

func newServer() *cobra.Command {
	var names func([]string) []*string
	var port int
	cmd := &cobra.Command{
		Use:   "server TARGET",
		Short: "Start a private server, print its DSN, and wait",
		Long: `Starts a private server with empty data, prints its DSN (the address for clients) on
the first line, and waits for Ctrl-C, which ends the server and removes its files. Only
programs of this user can reach it, through a socket. With --port all users of the
machine can, at 127.0.0.1 and with the random password in the DSN. A target with a
replica, or a cluster, has a line for each node; --port is for the first, which takes writes.`,
		Example: `  txnfuzz server mariadb:11.8
  txnfuzz server mysql:9.7,binlog=off
  txnfuzz server mariadb:11.8,replica=row
  txnfuzz server galera:11.8,nodes=3
  txnfuzz server mysql:9.7 --port 3307
  txnfuzz server --binary ~/src/mariadb/build/sql/mariadbd
  txnfuzz server mariadb:10.11 --server-opt innodb_snapshot_isolation=ON --server-opt sql_mode=`,
		Args: targetArgument(false),
		RunE: func(cmd *cobra.Command, args []string) error {
			if port < 0 || port > 65535 {
				return usagef("--port: want 1 to 65535, found %d", port)
			}
			return target.Serve(cmd.Context(), *names(args)[0], port, cmd.ErrOrStderr(), func(dsn string) error {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), dsn)
				return err
			})
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "listen on this port of 127.0.0.1, too; 0: on the socket only")
	names = firstArgument(cmd)
	addServerOpts(cmd, names)
	return cmd
}
