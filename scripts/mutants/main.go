package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

func main() {
	only := flag.String("only", "", "plant only the mistakes whose name holds this text")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "Plants mistakes in the oracle and demands that a test fails for each;\n"+
			"status 1 if one survives.")
		flag.PrintDefaults()
	}
	flag.Parse()
	survivors, err := plantAll(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
	if survivors > 0 {
		os.Exit(1)
	}
}

// plantAll plants the mistakes whose name holds only, and tells what became of
// each. None to plant, or few of all, counts as a survivor.
func plantAll(only string) (survivors int, err error) {
	ms, err := parse(table)
	if err != nil {
		return 0, err
	}
	ms = slices.DeleteFunc(ms, func(m mutant) bool { return !strings.Contains(m.Name, only) })
	root, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	s, err := newSuite(root, ms)
	if err != nil {
		return 0, err
	}
	defer s.end()
	for r := range s.runAll() {
		switch {
		case r.err != nil:
			return 0, fmt.Errorf("%s: %w", r.mutant.Name, r.err)
		case r.caught:
			fmt.Printf("caught    %-40s %s\n", r.mutant.Name, r.by)
		default:
			survivors++
			fmt.Printf("SURVIVED  %-40s no test of ./oracle/... fails\n", r.mutant.Name)
		}
	}
	fmt.Printf("%d planted mistakes, %d survived\n", len(ms), survivors)
	if len(ms) == 0 || only == "" && len(ms) < 20 {
		survivors++
	}
	return survivors, nil
}

// result is what became of one planted mistake.
type result struct {
	mutant mutant
	caught bool
	by     string // a test
	err    error
}

// runAll switches the mistakes on, each by itself, as many at a time as there are processors (a test of
// the oracle keeps one of them busy), and sends what became of them in their order.
func (s *suite) runAll() <-chan result {
	pending := make(chan chan result, runtime.GOMAXPROCS(0)-1)
	results := make(chan result)
	go func() {
		defer close(pending)
		for _, m := range s.mutants {
			one := make(chan result, 1)
			pending <- one
			go func() {
				r := result{mutant: m}
				r.caught, r.by, r.err = s.catch(m)
				one <- r
			}()
		}
	}()
	go func() {
		defer close(results)
		for one := range pending {
			results <- <-one
		}
	}()
	return results
}

// first are the tests that a mistake meets first, until one fails. The scripts and
// the recorded histories catch most. Behind them come the tests of its own package, and then all.
var first = []stage{
	{"oracle", "^TestScripts$|Abort|Disagree|Cause|ErrorBeside"},
	{"oracle", "^TestGolden$"},
}

// apart are the folders of packages that those tests do not reach: there a mistake meets the tests of its
// own package first.
var apart = []string{"oracle/promise", "oracle/plainsql", "corpus"}

// catch runs tests with m switched on until one fails. caught is false if all pass.
func (s *suite) catch(m mutant) (caught bool, by string, err error) {
	own := stage{folder: m.folder()}
	stages := slices.Concat(first, []stage{own})
	if slices.Contains(apart, own.folder) {
		stages = slices.Concat([]stage{own}, first)
	}
	for _, st := range stages {
		if caught, by, err := s.fails(st, m); caught || err != nil {
			return caught, by, err
		}
	}
	all, err := s.packages()
	if err != nil {
		return false, "", err
	}
	for _, folder := range all {
		if caught, by, err := s.fails(stage{folder: folder}, m); caught || err != nil {
			return caught, by, err
		}
	}
	return false, "", nil
}
