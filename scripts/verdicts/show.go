package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/oracle"
)

func showCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE:NUMBER",
		Short: "Print one record as a line of JSON, as the oracle's tests read it",
		Example: `  verdicts show mysql-9.7-seed7001-20000:17                       the record
  verdicts show mysql-9.7-seed7001-20000:17 | jq -r .case         its case
  verdicts show … >> oracle/testdata/innodb-false-alarms.jsonl    keep it as a test`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, number, _ := strings.Cut(args[0], ":")
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is not FILE:NUMBER, as compare prints it", args[0])
			}
			r, err := nth(filepath.Join(*dir, name+ending), n)
			if err != nil {
				return err
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(r)
		},
	}
}

// nth returns the n-th record of a file, from 1.
func nth(file string, n int) (*oracle.Record, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	d := json.NewDecoder(z)
	for i := 1; i < n; i++ {
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return nil, fmt.Errorf("%s has no record %d: %w", file, n, err)
		}
	}
	r := new(oracle.Record)
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("%s has no record %d: %w", file, n, err)
	}
	return r, nil
}
