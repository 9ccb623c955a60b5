package findings

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// TestOnDefaults: made-up servers show a violation as their options have it.
func TestOnDefaults(t *testing.T) {
	const modes = "sql_mode=ANSI,STRICT_ALL_TABLES"
	for _, tt := range []struct {
		name, target string
		shows        func(options []string) bool
		want         string
		asked        int
	}{
		{"no options", "mariadb:11.8", nil, "", 0},
		{"a DSN with commas", "user:a,b=c@tcp(localhost:1)/", nil, "", 0},
		{"defaults", "mariadb:11.8,snapshot=off,binlog=row", func([]string) bool { return true }, "shows, too", 1},
		{"one option", "mariadb:11.8,snapshot=off", func(o []string) bool { return len(o) == 1 }, "does not show; needs snapshot=off", 1},
		{"one of three", "mysql:9.7,binlog=off," + modes + ",autocommit=1",
			func(o []string) bool { return slices.Contains(o, modes) }, "does not show; needs " + modes, 4},
		{"two together", "mysql:9.7,binlog=off," + modes,
			func(o []string) bool { return len(o) == 2 }, "does not show; needs binlog=off, " + modes, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked, open := 0, 0
			server := func(_ context.Context, name string) (target.JudgeFunc, func() error, error) {
				base, options := target.SplitOptions(name)
				if want, _, _ := strings.Cut(tt.target, ","); base != want {
					t.Errorf("opened %s", name)
				}
				asked++
				open++
				judge := func(context.Context, *corpus.Case, map[int]corpus.Level) target.Trial {
					if tt.shows(options) {
						return target.Trial{Verdict: oracle.Verdict{Outcome: oracle.Violation, Kind: "dirty-read"}}
					}
					return target.Trial{Verdict: oracle.Verdict{Outcome: oracle.OK}}
				}
				return judge, func() error { open--; return nil }, nil
			}
			r := &target.Trial{Verdict: oracle.Verdict{Outcome: oracle.Violation, Kind: "dirty-read"}}
			got, err := onDefaults(context.Background(), server, tt.target, r, Unconfirmed)
			if err != nil || got != tt.want || asked != tt.asked || open != 0 {
				t.Errorf("%q after %d servers, %d left open, error %v; want %q after %d", got, asked, open, err, tt.want, tt.asked)
			}
		})
	}
}

// A server that cannot be had takes nothing from a finding but this.
func TestOnDefaultsFails(t *testing.T) {
	gone := errors.New("no such\nserver")
	open := func(context.Context, string) (target.JudgeFunc, func() error, error) { return nil, nil, gone }
	const name = "mariadb:11.8,snapshot=off"
	if _, err := onDefaults(context.Background(), open, name, &target.Trial{}, reruns); !errors.Is(err, gone) {
		t.Errorf("error %v", err)
	}
	if got := defaultsOf(context.Background(), open, name, &target.Trial{}, reruns); got != "not tried: look whether a finding shows on mariadb:11.8: no such server" {
		t.Errorf("%q", got)
	}
}
