package main

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/junit"
	"github.com/txnfuzz/txnfuzz/fuzz/sarif"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// surfaces are the flags that bring results to continuous integration.
type surfaces struct{ junit, sarif, asked string }

func (s *surfaces) add(f *pflag.FlagSet) {
	f.StringVar(&s.junit, "junit", "", "write the results as JUnit XML; - is standard output")
	f.StringVar(&s.sarif, "sarif", "", "write the findings as SARIF 2.1.0; - is standard output")
	f.StringVar(&s.asked, "fail-on", string(campaign.FailAny), "which findings give status 1: new, any or none")
}

func (s *surfaces) failOn() (campaign.FailOn, error) {
	f, err := campaign.ParseFailOn(s.asked)
	if err != nil {
		return f, usagef("--fail-on: %w", err)
	}
	return f, nil
}

// onStdout returns "-" if a file for machines is standard output.
func (s *surfaces) onStdout(jsonFile string) (string, error) {
	n, out := 0, ""
	for _, path := range []string{jsonFile, s.junit, s.sarif} {
		if path == "-" {
			n, out = n+1, path
		}
	}
	if n > 1 {
		return "", usagef("only one of --json, --junit and --sarif can be standard output")
	}
	return out, nil
}

// writeRun writes what was asked for, also of a run that failed: whoever looks
// at the file only must see that. failed is nil for a run that is complete.
func (s *surfaces) writeRun(cmd *cobra.Command, name string, r *campaign.Report, failOn campaign.FailOn, failed error) error {
	return errors.Join(
		writeOutput(s.junit, cmd.OutOrStdout(), func(w io.Writer) error { return junit.WriteRun(w, target.Redact(name), r, failOn, failed) }),
		writeOutput(s.sarif, cmd.OutOrStdout(), func(w io.Writer) error {
			return sarif.WriteRun(w, category("run", target.Redact(name)), r, failOn, failed)
		}))
}

func (s *surfaces) writeReplay(cmd *cobra.Command, results []findings.Replayed, failOn campaign.FailOn, failed error) error {
	return errors.Join(
		writeOutput(s.junit, cmd.OutOrStdout(), func(w io.Writer) error { return junit.WriteReplay(w, results, failOn, failed) }),
		writeOutput(s.sarif, cmd.OutOrStdout(), func(w io.Writer) error {
			return sarif.WriteReplay(w, category("replay", targetsOf(results)...), results, failOn, failed)
		}))
}

// category tells the SARIF of a command on some targets from that of others.
func category(command string, targets ...string) sarif.Run {
	return sarif.Run{Version: strings.Fields(versionText())[0], Category: strings.Join(append([]string{command}, targets...), "/")}
}

// targetsOf lists the targets of a replay, in order.
func targetsOf(results []findings.Replayed) []string {
	var out []string
	for i := range results {
		if !slices.Contains(out, results[i].Target) {
			out = append(out, results[i].Target)
		}
	}
	return out
}
