package rules

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func TestScopeBefore(t *testing.T) {
	for _, x := range []struct {
		dbms    history.DBMS
		version string
		firsts  []string
		covered bool
	}{
		{history.MariaDB, "10.5.23-MariaDB", []string{"10.6.23", "10.11.14"}, true},
		{history.MariaDB, "10.6.22-MariaDB", []string{"10.6.23", "10.11.14"}, true},
		{history.MariaDB, "10.6.23-MariaDB", []string{"10.6.23", "10.11.14"}, false},
		{history.MariaDB, "10.7.1-MariaDB", []string{"10.6.23", "10.11.14"}, false},
		{history.MariaDB, "unknown", []string{"10.6.23"}, false},
		// What VERSION() gives, and what is behind -TiDB- in it.
		{history.TiDB, "8.0.11-TiDB-v8.5.3", []string{"8.5.4"}, true},
		{history.TiDB, "v8.5.3", []string{"8.5.4"}, true},
		{history.TiDB, "v7.5.6-pre", []string{"8.5.4"}, true},
		{history.TiDB, "8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af", []string{"8.5.4"}, false},
		{history.TiDB, "v9.0.0", []string{"8.5.4"}, false},
		// Built without the Makefile, before and since 8.4.
		{history.TiDB, "8.0.11-TiDB-None", []string{"8.3.0"}, true},
		{history.TiDB, "8.0.11-TiDB-v8.3.0", []string{"8.3.0"}, false},
		{history.TiDB, "8.0.11-TiDB-v8.4.0-this-is-a-placeholder", []string{"8.4.0"}, false},
	} {
		s := Scope{Before: x.firsts}
		if got := s.Covers(history.Server{DBMS: x.dbms, Version: x.version}, corpus.RepeatableRead); got != x.covered {
			t.Errorf("%s %s before %q: %v", x.dbms, x.version, x.firsts, got)
		}
	}
}
