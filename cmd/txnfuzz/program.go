package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
)

// programsAmong tells whether the arguments of replay are programs of load. Cases and programs are run in different
// ways, so both at once are refused.
func programsAmong(args []string) (bool, error) {
	n := 0
	for _, a := range args {
		if filepath.Ext(a) == load.ProgramExtension {
			n++
		}
	}
	if 0 < n && n < len(args) {
		return false, usagef("programs (%s) and cases are replayed apart", load.ProgramExtension)
	}
	return n > 0, nil
}

// checkProgramFlags refuses flags that mean nothing where a program is replayed.
func checkProgramFlags(cmd *cobra.Command, allowed ...string) error {
	allowed = append(allowed, "target", "server-opt", "json", flagBinary)
	var wrong error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if wrong == nil && !slices.Contains(allowed, f.Name) {
			wrong = usagef("--%s means nothing to a program, which says itself what is run", f.Name)
		}
	})
	if wrong == nil && cmd.Flags().Changed("server-opt") && !cmd.Flags().Changed("target") {
		return usagef("--server-opt: want --target, too; a program's own target has its options")
	}
	return wrong
}

// replayPrograms runs programs of load, each on its own target or on those that are named.
func replayPrograms(cmd *cobra.Command, files, targets []string, s load.Settings, jsonFile string) error {
	var programs []*load.Program
	for _, file := range files {
		p, err := load.ReadProgram(file)
		if err != nil {
			return usagef("%w", err)
		}
		if len(targets) == 0 && p.Target == "" {
			return usagef("%s names no target: want --target", file)
		}
		programs = append(programs, p)
	}
	var all []*load.Replayed
	var failed error
	found := false
	for i, p := range programs {
		on := targets
		if len(on) == 0 {
			on = []string{p.Target}
		}
		for _, name := range on {
			r, err := replayProgram(cmd, name, p, files[i], s)
			if r != nil {
				all = append(all, r)
				found = found || r.Found()
				fmt.Fprint(forPeople(jsonFile, cmd.OutOrStdout(), cmd.ErrOrStderr()), r.String())
				err = errors.Join(err, r.Problem())
			}
			if exitCode(err) == exitUsage {
				return err
			}
			failed = errors.Join(failed, err)
			if cmd.Context().Err() != nil {
				break
			}
		}
	}
	written := writeOutput(jsonFile, cmd.OutOrStdout(), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(all)
	})
	if found && written == nil && !unwritten(failed) {
		if failed != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "txnfuzz: "+failed.Error())
		}
		return errFound
	}
	return errors.Join(failed, written)
}

func replayProgram(cmd *cobra.Command, name string, p *load.Program, file string, s load.Settings) (_ *load.Replayed,
	err error) {
	s.Target, s.Level = redacted(name), p.Level
	s.Progress, s.Every = cmd.ErrOrStderr(), pace(os.Stderr)
	b, err := openForLoad(cmd.Context(), name, nil, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r, err := load.ReplayProgram(cmd.Context(), b, s, p, file)
	return r, loadUsage(err)
}

// loadUsage makes wrong usage of settings that a target does not take.
func loadUsage(err error) error {
	var setting *load.SettingError
	if errors.As(err, &setting) {
		return usagef("%w", setting)
	}
	return err
}

// redacted is a target's name without a password; the command of an adapter is told as it is.
func redacted(name string) string {
	if strings.HasPrefix(name, load.AdapterScheme) {
		return name
	}
	return target.Redact(name)
}

// checkAdapter reports flags that mean nothing beside --adapter. says: a flag tells what is checked.
func checkAdapter(cmd *cobra.Command, command string, says bool) error {
	for _, name := range []string{"target", "node", "server-opt", "fault", flagBinary} {
		if cmd.Flags().Changed(name) {
			return usagef("--adapter and --%s exclude each other", name)
		}
	}
	if strings.TrimSpace(command) == "" {
		return usagef("--adapter: want a command")
	}
	if !says {
		return usagef("--adapter: nobody knows what lies behind it; want --model or --promise, which says what is checked")
	}
	return nil
}

func openForLoad(ctx context.Context, name string, others []target.Node, s load.Settings) (harness.Backend, error) {
	if command, ok := strings.CutPrefix(name, load.AdapterScheme); ok {
		return load.NewAdapter(command, s.Level), nil
	}
	o := harness.Options{
		Progress: s.Progress, Durable: len(s.Faults) > 0, PowerLoss: slices.Contains(s.Faults, load.PowerLoss),
		Copied:    s.Backup.Copies(),
		Partition: slices.Contains(s.Faults, load.Partition),
	}
	if len(others) > 0 {
		return target.OpenCluster(ctx, name, others, o)
	}
	return target.OpenBackend(ctx, name, o)
}

// runReplayPrograms is replay of programs of load.
func runReplayPrograms(cmd *cobra.Command, files, targets []string, jsonFile string) error {
	if err := checkProgramFlags(cmd); err != nil {
		return err
	}
	if err := placesFor(jsonFile); err != nil {
		return err
	}
	if !cmd.Flags().Changed("target") {
		targets = nil
	}
	s := load.Settings{Timeout: 10 * time.Second, Clients: defaultClients(), Seed: rand.Uint64()}
	return replayPrograms(cmd, files, expanded(cmd.Context(), targets), s, jsonFile)
}
