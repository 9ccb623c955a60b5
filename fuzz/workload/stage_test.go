package workload

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/harness"
	_ "github.com/txnfuzz/txnfuzz/harness/server"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
)

// installed returns the first of the targets that this machine has; where servers are
// known to be installed, a missing one is a failure.
func installed(t testing.TB, targets ...string) []string {
	t.Helper()
	var out []string
	for _, x := range harness.Available(t.Context()) {
		if x.Available && slices.Contains(targets, x.Name) {
			out = append(out, x.Name)
		}
	}
	if os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" && len(out) < len(targets) {
		t.Fatalf("TXNFUZZ_REQUIRE_SERVERS is set and only %v of %v are there", out, targets)
	}
	return out
}

// backend opens a target until the test has ended.
func backend(t testing.TB, target string) harness.Backend {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b, err := harness.Open(ctx, target, harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func open(t testing.TB, target string) *harness.Pool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pool, err := harness.NewPool(ctx, backend(t, target), harness.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Leave(); err != nil {
			t.Error(err)
		}
	})
	return pool
}

func load(t testing.TB, name string) *workload.Workload {
	t.Helper()
	path := "../../corpus/workloads/" + name + ".workload"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := workload.Parse(path, text)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func bytesOf(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]byte, 512)
	for i := range out {
		out[i] = byte(r.Uint32())
	}
	return out
}

// TestSmoke runs the bank's transactions on a server and finds that READ COMMITTED
// lets an account be overdrawn.
func TestBankOverdrawn(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		w := load(t, "bank")
		stage := NewStage(w, open(t, target))
		sets := mutate.Sets(w, 2)
		found := map[Kind]int{}
		begun := time.Now()
		runs := 0
		for seed := range uint64(100) {
			in := mutate.Make(w, sets, bytesOf(seed))
			ref := stage.serials(in, corpus.Serializable)
			if bug, err := ref.applicationBug(t.Context()); err != nil || bug != nil {
				t.Fatal(bug, err)
			}
			o, err := stage.Run(t.Context(), in, corpus.ReadCommitted)
			if err != nil {
				t.Fatal(err)
			}
			a, err := ref.judge(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			runs += 3
			if a != nil {
				found[a.kind]++
				if found[a.kind] == 1 {
					t.Logf("%s\n%s\n%s", mutate.Numbered(in.Calls), corpus.Print(o.Case, corpus.Text), a.detail)
				}
			}
		}
		t.Log(target, found, runs, time.Since(begun))
		if found[invariantKind("no-overdraft")] == 0 {
			t.Error("no account was overdrawn")
		}
	}
}

// TestNobodyCounts: where the server took back every call, the run is compared with one
// in which nothing happens.
func TestNobodyCounts(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		stage := NewStage(load(t, "bank"), open(t, target))
		in := mutate.Make(stage.W, mutate.Sets(stage.W, 2), bytesOf(1))
		refs := stage.serials(in, corpus.Serializable)
		runs, err := refs.of(t.Context(), nil)
		if err != nil || len(runs) != 1 || runs[0].outcome.final == "" {
			t.Fatalf("%+v, %v", runs, err)
		}
		o := &Outcome{Calls: []CallOutcome{{End: Aborted}, {End: Aborted}}, final: runs[0].outcome.final}
		if a, err := refs.judge(t.Context(), o); err != nil || a != nil {
			t.Errorf("%+v, %v", a, err)
		}
		o.final += "account: lost\n"
		if a, err := refs.judge(t.Context(), o); err != nil || a == nil || a.kind != StateKind {
			t.Errorf("%+v, %v", a, err)
		}
	}
}
