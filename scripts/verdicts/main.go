package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	_ "github.com/txnfuzz/txnfuzz/harness/server"
)

// errChanged says that the two builds do not judge alike, which is a result.
var errChanged = errors.New("verdicts changed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{
		Use:           "verdicts",
		Short:         "Judge the same recorded histories with two builds of the oracle",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	dir := root.PersistentFlags().String("dir", defaultDir(), "folder of the recorded histories and of what was judged")
	root.AddCommand(recordCommand(dir), compareCommand(dir), showCommand(dir), toldCommand(), promisedCommand(dir), askCommand(dir), aloneCommand(dir))
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
	case errors.Is(err, errChanged):
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "verdicts:", err)
		os.Exit(3)
	}
}

func defaultDir() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "txnfuzz", "verdicts")
}
