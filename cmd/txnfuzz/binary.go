package main

import (
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/server"
)

const flagBinary = "binary"

// addBinary gives every command the flag for the user's own build of a server. It
// becomes the target where none is named.
func addBinary(root *cobra.Command) {
	binary := root.PersistentFlags().String(flagBinary, "", "test your own mysqld, mariadbd, tidb-server or postgres: `PATH`[,base=DIR][,share=DIR][,plugins=DIR]; it is the target if none is named")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if *binary == "" {
			return nil
		}
		name, value, err := server.OwnBinary(cmd.Context(), *binary)
		var wrong *harness.NameError
		if errors.As(err, &wrong) {
			return usagef("--%s: %w", flagBinary, err)
		}
		if err != nil {
			return err
		}
		if err := os.Setenv(harness.EnvBinary, value); err != nil {
			return err
		}
		given := cmd.Flags().Lookup("target")
		if given == nil {
			return nil
		}
		if !given.Changed {
			// A target that is an argument wins over it.
			return cmd.Flags().Set("target", name)
		}
		for _, given := range strings.Fields(strings.Trim(given.Value.String(), "[]")) {
			if given == target.Default || strings.Contains(given, "/") {
				return usagef("--%s: target %s starts no server of its own; want %s, or no --target", flagBinary, target.Redact(given), name)
			}
		}
		return nil
	}
}

// hasBinary says that the flag names a build.
func hasBinary(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup(flagBinary)
	return f != nil && f.Changed
}
