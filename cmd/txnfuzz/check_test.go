package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/infer"
)

const historyHeader = `{"format":"txnfuzz-history","version":1,"workload":"append"`

// history makes a file of transactions.
func history(t *testing.T, header string, lines ...string) string {
	t.Helper()
	text := header + "}\n" + strings.Join(lines, "\n") + "\n"
	return writeFile(t, "history.jsonl", text)
}

var (
	skewed = []string{
		`{"session":0,"status":"ok","ops":[["append",1,1],["r",2,[]]]}`,
		`{"session":1,"status":"ok","ops":[["append",2,1],["r",1,[]]]}`,
		`{"end":2}`,
	}
	lawful = []string{
		`{"session":0,"status":"ok","invoke":0,"return":1,"ops":[["append",1,1],["r",2,[]]]}`,
		`{"session":1,"status":"ok","invoke":2,"return":3,"ops":[["append",2,1],["r",1,[1]]]}`,
		`{"end":2}`,
	}
)

func TestCheckStatus(t *testing.T) {
	skew := history(t, historyHeader, skewed...)
	good := history(t, historyHeader, lawful...)
	cut := history(t, historyHeader, skewed[:2]...)
	promised := history(t, historyHeader+`,"promised":["serializable"]`, skewed...)
	target := history(t, historyHeader+`,"target":"mysql:9.7","level":"SER"`, skewed...)
	lenient := history(t, historyHeader+`,"target":"mysql:9.7","level":"RR"`, skewed...)
	broken := writeFile(t, "broken.edn", "{:type :ok, :value [[:append 1 1]\n")
	for _, c := range []struct {
		name string
		args []string
		code int
		want string // on standard output, or on standard error
	}{
		{"table", []string{skew}, 0, "repeatable-read                    fails  (weakest)"},
		{"holds", []string{good}, 0, "strict-serializable                holds  (strongest)"},
		{"fails", []string{skew, "--model", "serializable"}, 1, "a contradiction"},
		{"asked holds", []string{skew, "--model", "snapshot-isolation"}, 0, "snapshot-isolation                 holds"},
		{"two models", []string{skew, "--model", "snapshot-isolation", "--model", "repeatable-read"}, 1, "repeatable-read                    fails"},
		{"undecided", []string{skew, "--model", "strong-snapshot-isolation"}, 3, "does not say when"},
		{"promised in the file", []string{promised}, 1, "G2-item, 1: write skew"},
		{"target in the file", []string{target}, 1, "G2-item, 1"},
		{"a weaker promise", []string{lenient}, 0, "read-committed                     holds"},
		{"promised by target", []string{lenient, "--model", "promised:postgres"}, 0, "snapshot-isolation                 holds"},
		{"cut", []string{cut}, 2, `expected {"end":2} as the last line`},
		{"cut, judged", []string{cut, "--cut", "--model", "serializable"}, 1, "judged by these"},
		{"broken", []string{broken}, 2, "broken.edn:2:1: expected more"},
		{"failure beside a broken file", []string{broken, skew, "--model", "serializable"}, 1, "broken.edn:2:1"},
		{"missing", []string{"no/such/file"}, 2, "no/such/file"},
		{"none", nil, 2, "want a file"},
		{"model", []string{skew, "--model", "serialisable"}, 2, `did you mean "serializable"?`},
		{"format", []string{skew, "--format", "xml"}, 2, `unknown format "xml"`},
		{"promise unknown", []string{skew, "--model", "promised:oracle"}, 2, "--model promised:oracle"},
		{"not that format", []string{skew, "--format", "text"}, 2, "history.jsonl:1:1: expected r(key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := txnfuzz(t, append([]string{"check"}, c.args...)...)
			if got.code != c.code || !strings.Contains(got.stdout+got.stderr, c.want) {
				t.Errorf("status %d, want %d with %q:\n%s%s", got.code, c.code, c.want, got.stdout, got.stderr)
			}
		})
	}
}

func TestCheckJSONAndPictures(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pictures")
	got := txnfuzz(t, "check", history(t, historyHeader, skewed...), "--json", "-", "--draw", dir)
	reports := decode[[]checkReport](t, got.stdout)
	if len(reports) != 1 || len(reports[0].Anomalies) != 1 {
		t.Fatalf("%+v", reports)
	}
	a := reports[0].Anomalies[0]
	if a.Kind != "G2-item" || a.Count != 1 || len(a.Examples) != 1 || len(a.Examples[0].Steps) != 2 || !strings.Contains(a.Examples[0].Transactions[0], "append 1 1") {
		t.Errorf("%+v", a)
	}
	for file, want := range map[string]string{"history-G2-item-1.dot": `t1 -> t2 [label="rw"]`, "history-G2-item-1.svg": ">append 2 1</text>"} {
		if text := readFile(t, filepath.Join(dir, file)); !strings.Contains(text, want) {
			t.Errorf("no %q in %s:\n%s", want, file, text)
		}
	}
}

func TestCheckConverts(t *testing.T) {
	in := history(t, historyHeader, skewed...)
	edn := filepath.Join(t.TempDir(), "history.edn")
	if got := txnfuzz(t, "check", in, "--convert", "edn", "--out", edn); got.code != 0 {
		t.Fatalf("status %d: %s", got.code, got.stderr)
	}
	if got := txnfuzz(t, "check", edn, "--model", "serializable"); got.code != 1 || !strings.Contains(got.stdout, "G2-item") {
		t.Errorf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
	if got := txnfuzz(t, "check", in, "--convert", "text"); got.code != 2 || !strings.Contains(got.stderr, "reads and writes of registers only") {
		t.Errorf("status %d: %s%s", got.code, got.stdout, got.stderr)
	}
}

// A file that grows is judged when its last line is there.
func TestCheckFollows(t *testing.T) {
	path := history(t, historyHeader, skewed[0])
	cmd := command(t, "check", path, "--follow", "--model", "serializable")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
		t.Fatalf("did not wait: %s", &out)
	case <-time.After(300 * time.Millisecond):
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range skewed[1:] {
		if _, err := f.WriteString(l + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if <-ended; cmd.ProcessState.ExitCode() != 1 || !strings.Contains(out.String(), "G2-item") {
		t.Errorf("status %d: %s", cmd.ProcessState.ExitCode(), &out)
	}
}

// A judgement can take minutes; an interrupt must not wait for it.
func TestAnInterruptEndsAJudgement(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan struct{})
	defer close(never)
	_, err := untilInterrupted(ctx, func() (*infer.Result, error) {
		cancel()
		<-never
		return nil, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestCheckFindsALossAgain: of a history that ends with a read of everything, check tells what is missing in that.
func TestCheckFindsALossAgain(t *testing.T) {
	t.Parallel()
	const history = `{"format":"txnfuzz-history","version":1,"workload":"append","final_read":true}
{"session":1,"status":"ok","invoke":1,"return":2,"ops":[["append",1,5]]}
{"session":0,"status":"ok","invoke":8,"return":9,"ops":[["r",1,[]]]}
{"end":2}
`
	const want = "lost-acknowledged, 1: "
	if got := txnfuzz(t, "check", writeFile(t, "x.jsonl", history)); got.code != exitFound ||
		!strings.Contains(got.stdout, want) || !strings.Contains(got.stdout, "append of 5 to key 1") {
		t.Errorf("%v", got)
	}
	there := strings.Replace(history, "[]]", "[5]]", 1)
	if got := txnfuzz(t, "check", writeFile(t, "y.jsonl", there)); got.code != exitClean {
		t.Errorf("%v", got)
	}
}
