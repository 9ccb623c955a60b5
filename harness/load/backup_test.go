package load_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// tornDumps is a server whose dumps have the first half of their rows from one state and the others from a later one.
type tornDumps struct{ harness.Wired }

func (d tornDumps) CanDump() error { return d.Wired.(harness.Dumping).CanDump() }

func (d tornDumps) Dump(ctx context.Context, of harness.DumpOf) ([]byte, error) {
	var rows [2][][]byte
	for i := range rows {
		text, err := d.Wired.(harness.Dumping).Dump(ctx, of)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			if bytes.HasPrefix(line, []byte("INSERT")) {
				rows[i] = append(rows[i], line)
			}
		}
	}
	n := min(len(rows[0]), len(rows[1])) / 2
	return bytes.Join(append(rows[0][:n:n], rows[1][n:]...), nil), nil
}

// TestDumps: a dump that is one snapshot passes, and one that is none is found.
func TestDumps(t *testing.T) {
	for _, target := range installed(t, mysql97) {
		b := open(t, target, harness.Options{}).(harness.Wired)
		s := settings(t, target, "bank", corpus.RepeatableRead)
		s.Backup, s.Duration = load.DumpBackup, time.Second
		var out bytes.Buffer
		s.History = &out
		if r := run(t, b, s); r.Found() || r.Problem() != nil || r.Backups == 0 {
			t.Errorf("%v\n%s", r.Problem(), textOf(t, r))
		}
		src, err := kv.ReadJSONLines("out", &out)
		if err != nil {
			t.Fatal(err)
		}
		h, err := kv.Load("out", src)
		if err != nil {
			t.Fatal(err)
		}
		dumps := 0
		for i := range h.Len() {
			if h.Node(i) == "dump" {
				dumps++
			}
		}
		if dumps == 0 {
			t.Error("no dump in the history")
		}
		s.History, s.Workload, s.Duration = nil, "chain", time.Second/2
		if r := run(t, b, s); r.Found() || r.Problem() != nil || r.Backups == 0 {
			t.Errorf("chain: %v\n%s", r.Problem(), textOf(t, r))
		}
		s.Workload, s.Duration = "bank", 10*time.Second
		s.UntilFound = true
		r, err := load.Run(t.Context(), tornDumps{b}, s)
		s.UntilFound = false
		if err != nil || !r.Found() || r.Findings[0].Kind != "wrong-total" {
			t.Errorf("torn dumps: %v\n%s", err, textOf(t, r))
		}
		s.Workload = "index"
		var refused *load.SettingError
		if _, err := load.Run(t.Context(), b, s); !errors.As(err, &refused) || !strings.Contains(err.Error(), "--backup") {
			t.Errorf("workload index: %v", err)
		}
	}
}
