package fuzz

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	_ "github.com/txnfuzz/txnfuzz/harness/server" // registers MySQL, MariaDB and DSNs
	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func TestMain(m *testing.M) {
	if code, ran := campaign.RunChild(); ran {
		os.Exit(code)
	}
	flag.Parse()
	if err := minimizeNothing(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// minimizeNothing keeps the engine from minimising inputs unless the command line
// asks for it. It would cut each input that shows something new as short as it
// can, a minute long by default, and the bytes that it cuts read as zeros: it would
// go on from ever plainer cases. Our reducer makes findings small.
func minimizeNothing() error {
	const name = "test.fuzzminimizetime"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return nil
	}
	return flag.Set(name, "0s")
}

// pairSettings are those of the environment. Target is empty where none was
// given and none is built in.
func pairSettings(tb testing.TB) campaign.Settings {
	tb.Helper()
	s := campaign.Settings{Target: builtInTarget, Out: findings.DefaultOut, Known: findings.StoredDir}
	if !isWorker() {
		for _, w := range campaign.StrangeVariables(os.Environ()) {
			fmt.Fprintln(os.Stderr, "warning: "+w)
		}
	}
	if err := s.FromEnvironment(); err != nil {
		tb.Fatal(err)
	}
	s.Out, s.Known = fromRoot(s.Out), fromRoot(s.Known)
	return s
}

// isWorker says that this process is one that the fuzzing engine started.
func isWorker() bool {
	f := flag.Lookup("test.fuzzworker")
	return f != nil && f.Value.String() == "true"
}

// FuzzTxnPair turns an input into cases of two to four transactions, runs them on
// TXNFUZZ_TARGET (default: the embedded TiDB) and judges what it saw. Without
// a target it only checks what holds for every case.
func FuzzTxnPair(f *testing.F) {
	s := pairSettings(f)
	known, err := campaign.LoadKnown(s.Known)
	if err != nil {
		f.Fatal(err)
	}
	// The cases that are stored show what they show each time. A run that ended at
	// them would never begin, so they are only told of.
	stored := map[string]bool{}
	for i, seed := range campaign.PairSeeds(known) {
		f.Add(seed)
		stored[string(seed)] = i >= campaign.OwnSeeds
	}
	if s.Target == "" {
		f.Fuzz(func(t *testing.T, data []byte) { checkCases(t, data, known, mutate.Options{Tables: 2}) })
		return
	}
	ctx := context.Background()
	if !isWorker() {
		// What killed an earlier process comes first.
		found, err := campaign.Orphans(ctx, s, "")
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range found {
			f.Error((&campaign.FoundError{Finding: x, Target: s.Target}).Error())
		}
	}
	pair, err := campaign.OpenPair(ctx, s)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if isWorker() {
			campaign.ExitCovered() // before the engine kills it
		}
		if err := pair.Close(); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		checkCases(t, data, known, pair.Options())
		var found *campaign.FoundError
		switch err := pair.Run(t.Context(), data); {
		case errors.As(err, &found):
			if rel, err := filepath.Rel("..", found.Finding.File); err == nil {
				found.Finding.File = rel // the command to replay runs in the root
			}
			if s.GoOn || stored[string(data)] {
				t.Log(found)
				return
			}
			t.Error(found)
		case err != nil:
			t.Fatal(err)
		}
	})
}

// checkCases checks what holds for the cases of every input: they are the same
// each time, can be saved, and read back as they are.
func checkCases(t *testing.T, data []byte, known []*corpus.Case, o mutate.Options) {
	t.Helper()
	cases, again := campaign.PairCases(data, known, o), campaign.PairCases(data, known, o)
	none := len(cases) == 0 && o.DBMS != history.PostgreSQL // which has no words for some
	if none || len(cases) != len(again) {
		t.Fatalf("%d cases, then %d", len(cases), len(again))
	}
	for i, c := range cases {
		text := corpus.Print(c, corpus.Text)
		if !bytes.Equal(text, corpus.Print(again[i], corpus.Text)) {
			t.Fatalf("case %d is another one the second time:\n%s\n%s", i, text, corpus.Print(again[i], corpus.Text))
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("case %d cannot be saved: %v\n%s", i, err, text)
		}
		back, err := corpus.Parse("case", text)
		if err != nil {
			t.Fatalf("case %d cannot be read back: %v\n%s", i, err, text)
		}
		if !back.Equal(c) {
			t.Fatalf("case %d is read back as another one:\n%s\n%s", i, text, corpus.Print(back, corpus.Text))
		}
	}
}
