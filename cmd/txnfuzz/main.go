package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

func main() {
	os.Args = hidePasswords(os.Args)
	if code, ran := campaign.RunChild(); ran {
		os.Exit(code)
	}
	for _, w := range campaign.StrangeVariables(os.Environ()) {
		fmt.Fprintln(os.Stderr, "txnfuzz: warning: "+w)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second Ctrl-C ends the process at once.
	context.AfterFunc(ctx, stop)
	err := newRoot().ExecuteContext(ctx)
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, "txnfuzz: "+err.Error())
	}
	os.Exit(exitCode(err))
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "txnfuzz",
		Short: "Finds isolation bugs in transactional databases",
		Long: `txnfuzz finds transaction and isolation bugs in SQL databases. It makes small
cases (tables, rows, and two to four sessions that run transactions), runs them
on a live server, and compares each answer with what the server's manual promises
at the isolation level: RU, RC, RR or SER, short for READ UNCOMMITTED to
SERIALIZABLE.

A target is the server to test: embedded (the TiDB that is compiled in),
mariadb:11.8, mysql:9.7, postgres:18, tidb:2025-11 and the like (txnfuzz starts a
private server), or the DSN of a server that runs already; txnfuzz targets lists
what is there.

Exit status: 0 nothing found, 1 something found, 2 wrong usage, 3 txnfuzz or the
server failed.`,
		Example: `  txnfuzz run --duration 1m                      fuzz the TiDB that is compiled in
  txnfuzz run --target mariadb:11.8 --levels RR  start a MariaDB and fuzz it
  txnfuzz replay corpus/known                    run published bug reports again
  txnfuzz show corpus/known/mysql-104833.sql     one case, step by step`,
		Version:       versionText(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("no command; see txnfuzz --help")
		},
	}
	root.SetVersionTemplate("txnfuzz {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newRun(), newReplay(), newReduce(), newBisect(), newShow(), newExport(), newReport(), newServer(), newTargets())
	root.AddCommand(newShell(), newCorpus(), newCheck())
	root.AddCommand(newLoad(), newWorkload())
	root.AddCommand(newMan())
	addBinary(root)
	root.SetGlobalNormalizationFunc(flagName)
	return root
}
