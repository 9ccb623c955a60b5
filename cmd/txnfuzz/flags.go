package main

import (
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/txnfuzz/txnfuzz/corpus/spelling"
)

// flagAliases are other names of flags, which every command that has the flag
// takes.
var flagAliases = map[string]string{"level": "levels"}

func flagName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if alias, ok := flagAliases[name]; ok {
		name = alias
	}
	return pflag.NormalizedName(name)
}

var unknownFlag = regexp.MustCompile(`^unknown flag: --(\S+)$`)

// flagError explains what is wrong with a flag.
func flagError(cmd *cobra.Command, err error) error {
	hint := ""
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
		hint = spelling.Hint("--"+m[1], known)
	}
	return usagef("%w%s; see %s --help", err, hint, cmd.CommandPath())
}
