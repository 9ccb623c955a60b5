package main

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
)

// addPromise gives a command the flag --promise.
func addPromise(f *pflag.FlagSet) {
	f.Var(declaredPromise{}, "promise", "what the levels of a server promise that no rule knows, such as RR=SI,SER=S: "+
		"S (serializable), SI (snapshot isolation), SI-merged (SI, but writes of other columns of a row are merged), "+
		"snapshot (plain SELECTs on a snapshot, writes on the newest rows), statement, uncommitted. "+
		"The server itself then says what each statement answers alone")
}

// declaredPromise is the flag's value. It is kept where the processes find it that this one starts.
type declaredPromise struct{}

func (declaredPromise) String() string { return os.Getenv(target.EnvPromise) }

func (declaredPromise) Type() string { return "LEVEL=PROMISE,..." }

func (declaredPromise) Set(s string) error {
	if _, err := promise.ParseDeclared(s); err != nil {
		return usagef("%w", err)
	}
	return os.Setenv(target.EnvPromise, s)
}
