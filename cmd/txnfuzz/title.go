package main

import (
	"strings"
	"unsafe"

	"github.com/go-sql-driver/mysql"
)

// hidePasswords returns a copy of the arguments and overwrites the passwords of
// data source names in the arguments themselves. On Unix those are the memory
// that the system shows as the process's command line, so that from here on no
// list of processes tells a password. Between the start and this call it does.
func hidePasswords(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = strings.Clone(a)
		from, to := passwordIn(out[i])
		if from == to {
			continue
		}
		bytes := unsafe.Slice(unsafe.StringData(a), len(a))
		for j := from; j < to; j++ {
			bytes[j] = 'x'
		}
	}
	return out
}

// passwordIn returns where in an argument, either a data source name or
// --flag=NAME, the password lies; from == to: there is none.
func passwordIn(arg string) (from, to int) {
	if strings.HasPrefix(arg, "-") {
		from = strings.IndexByte(arg, '=') + 1
	}
	dsn := arg[from:]
	at := strings.LastIndexByte(dsn, '@')
	colon := strings.IndexByte(dsn, ':')
	if colon < 0 || at < colon || !strings.Contains(dsn, "/") {
		return 0, 0
	}
	password := dsn[colon+1 : at]
	if cfg, err := mysql.ParseDSN(dsn); err == nil {
		password = cfg.Passwd // an @ behind it may belong to an option
	}
	return from + colon + 1, from + colon + 1 + len(password)
}
