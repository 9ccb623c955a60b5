package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan writes the manual pages; scripts/release packs them.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages into a folder",
		Long:    "Writes a manual page (section 1) for txnfuzz and for each of its commands into a\nfolder, which is made.",
		Example: "  txnfuzz man ~/.local/share/man/man1",
		Args:    exactly(1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("write the manual pages: %w", err)
			}
			// Pages carry no date of their own, so that a build can be repeated.
			date := time.Unix(0, 0).UTC()
			header := &doc.GenManHeader{Title: "TXNFUZZ", Section: "1", Source: "txnfuzz " + strings.Fields(versionText())[0], Date: &date}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("write the manual pages: %w", err)
			}
			return nil
		},
	}
}
