package main

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
)

const errKillOthers = "a KILL can take a server down, so on a server that txnfuzz did not start it needs --allow-kill"

// addAllowKill gives a command the flag --allow-kill.
func addAllowKill(f *pflag.FlagSet) {
	f.Var(allowKill{}, "allow-kill", "let cases with KILL run on the server of a DSN, too; they kill their own connections only, but servers have died of that")
	f.Lookup("allow-kill").NoOptDefVal = "true"
}

// allowKill is the flag's value. It is kept where the processes find it that this one starts.
type allowKill struct{}

func (allowKill) String() string { return "false" }

func (allowKill) Type() string { return "bool" }

func (allowKill) Set(s string) error {
	switch s {
	case "true":
		return os.Setenv(target.EnvAllowKill, "1")
	case "false":
		return os.Unsetenv(target.EnvAllowKill)
	}
	return usagef("want true or false, found %q", s)
}

func killsAllowed() bool { return os.Getenv(target.EnvAllowKill) != "" }
