package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

func flightCase(t testing.TB) *corpus.Case {
	t.Helper()
	c, err := corpus.Parse("flight", []byte("-- source: here\n\n/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT * FROM t;\n/* tx2 */ DELETE FROM t;\n"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFlightFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "inflight")
	f, err := openFlight(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := flightCase(t)
	levels := map[int]corpus.Level{1: corpus.ReadCommitted, 2: corpus.RepeatableRead}
	short := c.Clone()
	short.Steps = short.Steps[:1]
	// The short one goes over the long one: nothing of that may stay.
	for _, x := range []*corpus.Case{c, short} {
		if err := f.write(x, levels); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(f.f.Name())
		if err != nil {
			t.Fatal(err)
		}
		got, err := corpus.Parse("read back", text)
		if err != nil {
			t.Fatal(err)
		}
		want := x.Clone()
		want.SetLevels(levels)
		if !got.Equal(want) {
			t.Fatalf("file holds\n%s", text)
		}
	}
	if _, has := c.Get("level"); has {
		t.Error("the case itself was given a level")
	}
	if found, err := InFlightOrphans(dir); err != nil || len(found) != 0 {
		t.Errorf("orphans of a living process: %v, %v", found, err)
	}
	if err := f.remove(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("%d files left", len(left))
	}
}

func TestInFlightOrphans(t *testing.T) {
	dir := t.TempDir()
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(dead.Process.Pid)
	for name, text := range map[string]string{
		"inflight-" + pid + "-0.sql": "/* tx1 */ SELECT 1;\n",
		"inflight-" + pid + "-1.sql": "",
		"inflight-x-1.sql":           "not ours",
		"other.sql":                  "not ours",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := InFlightOrphans(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || filepath.Base(found[0]) != "inflight-"+pid+"-0.sql" {
		t.Errorf("found %v", found)
	}
	if left, _ := os.ReadDir(dir); len(left) != 3 {
		t.Errorf("%d files left, want 3: only the empty one of a dead process goes", len(left))
	}
	if found, err := InFlightOrphans(filepath.Join(dir, "none")); err != nil || found != nil {
		t.Errorf("a directory that is not there: %v, %v", found, err)
	}
}

func BenchmarkFlightFile(b *testing.B) {
	f, err := openFlight(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := f.remove(); err != nil {
			b.Error(err)
		}
	}()
	c := flightCase(b)
	levels := map[int]corpus.Level{1: corpus.ReadCommitted, 2: corpus.ReadCommitted}
	for b.Loop() {
		if err := f.write(c, levels); err != nil {
			b.Fatal(err)
		}
		f.clear()
	}
}
