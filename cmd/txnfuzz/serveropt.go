package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

// addServerOpts gives a command the flag --server-opt, which appends to the
// targets that the function returns before the command runs.
func addServerOpts(cmd *cobra.Command, targets func(args []string) []*string) {
	var opts []string
	cmd.Flags().StringArrayVar(&opts, "server-opt", nil, "server variable of a private server, NAME=VALUE, for example innodb_snapshot_isolation=OFF or sql_mode=; may be given several times")
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		for _, o := range opts {
			for _, t := range targets(args) {
				name, err := withServerOpt(*t, o)
				if err != nil {
					return err
				}
				*t = name
			}
		}
		return nil
	}
}

// oneTarget is for commands whose target is the value of a flag.
func oneTarget(target *string) func([]string) []*string {
	return func([]string) []*string { return []*string{target} }
}

// firstArgument is for commands whose target is their first argument or, as
// elsewhere, the value of a flag, which it adds.
func firstArgument(cmd *cobra.Command) func([]string) []*string {
	flag := cmd.Flags().String("target", "", "the target, in place of the argument")
	return func(args []string) []*string {
		if len(args) == 0 {
			return []*string{flag}
		}
		return []*string{&args[0]}
	}
}

// targetArgument accepts one target, as an argument or by the flag, and none if
// it is optional.
func targetArgument(optional bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		n := len(args)
		if cmd.Flags().Changed("target") {
			n++
		}
		switch {
		case n > 1 && optional:
			return usagef("want one target at most; see %s --help", cmd.CommandPath())
		case n == 0 && hasBinary(cmd):
			return nil
		case n != 1 && !optional:
			return usagef("want one target; see %s --help", cmd.CommandPath())
		}
		return nil
	}
}

// eachTarget is for commands whose flag names several targets.
func eachTarget(targets *[]string) func([]string) []*string {
	return func([]string) []*string {
		out := make([]*string, len(*targets))
		for i := range *targets {
			out[i] = &(*targets)[i]
		}
		return out
	}
}

// withServerOpt adds an option to a target's name, which every finding and its
// command to replay carry.
func withServerOpt(on, opt string) (string, error) {
	name, value, ok := strings.Cut(opt, "=")
	_, behindComma, list := strings.Cut(value, ",")
	switch {
	case !ok || strings.TrimSpace(name) == "":
		return "", usagef("--server-opt %s: want NAME=VALUE, such as innodb_snapshot_isolation=OFF", opt)
	case strings.Contains(name, ","):
		return "", usagef("--server-opt %s: want one variable; give the flag several times", opt)
	case list && strings.Contains(behindComma, "="), strings.ContainsAny(value, "/\n\r"):
		return "", usagef("--server-opt %s: a value can hold neither '/' nor, behind a comma, '='", opt)
	case on == "", on == target.Default:
		return "", usagef("--server-opt %s: only private servers take it; name one, such as --target mariadb:11.8", opt)
	case on == target.All:
		return "", usagef("--server-opt %s: name the private servers that take it, not %s", opt, target.All)
	case strings.Contains(on, "/"):
		return "", usagef("--server-opt %s: the server behind a DSN is not ours to configure; set the variable there", opt)
	}
	return on + "," + opt, nil
}
