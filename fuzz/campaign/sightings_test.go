package campaign

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// firstsOf returns what the lines of a file name, by what they tell of, and the
// last count of cases.
func firstsOf(t *testing.T, path string) (map[string][]string, int) {
	t.Helper()
	lines, err := ReadFirsts(path)
	if err != nil {
		t.Fatal(err)
	}
	out, cases := map[string][]string{}, 0
	for _, l := range lines {
		if l.Process != os.Getpid() || l.At.IsZero() {
			t.Errorf("line %+v", l)
		}
		out[l.What] = append(out[l.What], l.Name)
		cases = l.Cases
	}
	return out, cases
}

func TestFirstsAreWrittenOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sightings")
	w, err := openSightings(path)
	if err != nil {
		t.Fatal(err)
	}
	deviating, wrong := seen(t, 1213), seen(t, 1205)
	deviating.Verdict = oracle.Verdict{Outcome: oracle.Known, Rules: []string{"moved-row", "no-op-update-unseen"}}
	wrong.Verdict = oracle.Verdict{Outcome: oracle.Violation, Kind: "wrong-rows", Rules: []string{"moved-row"}}
	for _, r := range []*target.Trial{seen(t, 1213), deviating, wrong, seen(t, 1213), deviating} {
		if err := w.add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	got, cases := firstsOf(t, path)
	if cases != 5 {
		t.Errorf("%d cases of 5", cases)
	}
	if d := got[FirstDeviation]; len(d) != 2 || d[0] != "moved-row" || d[1] != "no-op-update-unseen" {
		t.Errorf("deviations %q", d)
	}
	if v := got[FirstViolation]; len(v) != 1 || v[0] != "wrong-rows" {
		t.Errorf("violations %q", v)
	}
	distinct := map[string]bool{}
	for _, name := range got[FirstBehaviour] {
		if distinct[name] {
			t.Errorf("class %s is new twice", name)
		}
		distinct[name] = true
	}
	if len(distinct) < 3 {
		t.Errorf("three runs that differ in an error or a verdict show %d classes", len(distinct))
	}
}

// Only campaigns with a corpus ask for plans, so plans are left out.
func TestFirstsLeavePlansOut(t *testing.T) {
	counts := [2]int{}
	for i := range counts {
		path := filepath.Join(t.TempDir(), "sightings")
		w, err := openSightings(path)
		if err != nil {
			t.Fatal(err)
		}
		r := seen(t, 1213)
		if i == 1 {
			r.History.Plans = map[int]string{2: "IndexScan"}
		}
		if err := w.add(r); err != nil {
			t.Fatal(err)
		}
		if i == 1 && r.History.Plans == nil {
			t.Error("the run has lost its plans")
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
		got, _ := firstsOf(t, path)
		counts[i] = len(got[FirstBehaviour])
	}
	if counts[0] == 0 || counts[0] != counts[1] {
		t.Errorf("%d classes without a plan, %d with one", counts[0], counts[1])
	}
}

func TestFirstsOfAKilledProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sightings")
	const text = "1700000000000\t7\t0\tcases\t\n1700000001000\t7\t3\tbehaviour\tab\n17000000020"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	lines, err := ReadFirsts(path)
	if err != nil || len(lines) != 2 || lines[1].Name != "ab" || lines[1].Cases != 3 || lines[1].Process != 7 {
		t.Errorf("%+v, %v", lines, err)
	}
	var none *sightings
	if none.add(nil) != nil || none.close() != nil {
		t.Error("no file is no error")
	}
}
