package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/workload"
)

//go:embed expected.tsv
var expectedText string

// expectation is one anomaly that an example is to show on a target at a level.
type expectation struct {
	Workload, Target, Level string
	Transactions            []string
	Kind                    string
}

// servers says which targets a word of the table stands for. The REPEATABLE READ of
// MariaDB 11.8 is snapshot isolation by its default.
// https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables#innodb_snapshot_isolation
var servers = map[string][]string{
	"weak": {"mysql:9.7", "mariadb:10.11", "mariadb:10.5", "embedded"},
	"si":   {"mariadb:11.8"},
}

func init() { servers["all"] = slices.Concat(servers["weak"], servers["si"]) }

// levelsOf returns the levels that a target has.
func levelsOf(target string) []string {
	if target == "embedded" {
		return []string{"RC", "RR"}
	}
	return []string{"RU", "RC", "RR", "SER"}
}

// parseExpected reads the table and returns the expectations for one target.
func parseExpected(text, target string) ([]expectation, error) {
	var out []expectation
	for n, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 6 {
			return nil, fmt.Errorf("expected.tsv:%d: %d columns, not 6", n+1, len(f))
		}
		on, ok := servers[f[1]]
		if !ok {
			return nil, fmt.Errorf("expected.tsv:%d: unknown servers %q", n+1, f[1])
		}
		if !slices.Contains(on, target) {
			continue
		}
		for _, l := range strings.Split(f[2], ",") {
			if slices.Contains(levelsOf(target), l) {
				out = append(out, expectation{f[0], target, l, strings.Split(f[3], " × "), f[4]})
			}
		}
	}
	return out, nil
}

// meets reports whether a finding is what was expected, or what some of the expected
// transactions show alone.
func (e *expectation) meets(f *workload.Finding) bool {
	return f.Class == workload.Isolation && f.Level == e.Level && (e.Kind == "*" || e.Kind == string(f.Kind)) && f.Within(e.Transactions)
}
