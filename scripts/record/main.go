package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	_ "github.com/txnfuzz/txnfuzz/harness/server"
	"github.com/txnfuzz/txnfuzz/oracle"
)

func main() {
	name := flag.String("target", target.Default, "target, as txnfuzz run takes it")
	levels := flag.String("levels", "RR", "levels of cases whose header names none")
	note := flag.String("note", "", "what the records are about; empty: file, target and level")
	verdict := flag.String("verdict", "", "write only records of this verdict, or of a known verdict that needs this rule")
	flag.Parse()
	if err := run(context.Background(), *name, *levels, *note, *verdict, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(3)
	}
}

func run(ctx context.Context, name, levels, note, verdict string, files []string) (err error) {
	asked, err := target.ParseLevels(levels)
	if err != nil {
		return err
	}
	t, err := target.Open(ctx, name, target.Options{AskForAll: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	out := json.NewEncoder(os.Stdout)
	for _, file := range files {
		stored, err := corpus.LoadAny(file)
		if err != nil {
			return err
		}
		for _, s := range stored {
			for _, l := range asked {
				r := t.Judge(ctx, s.Case, target.LevelsFor(s.Case, l))
				if r.History == nil {
					fmt.Fprintf(os.Stderr, "%s at %s: not run: %v\n", s.Path, l.Short(), r.Err)
					continue
				}
				r.Anomalies() // so that what their names rest on is recorded, too
				rec := oracle.NewRecord(s.Case, r.History)
				rec.Note = note
				if note == "" {
					rec.Note = fmt.Sprintf("%s on %s at %s", strings.TrimSuffix(filepath.Base(s.Path), corpus.Ext), t.Name, l.Short())
				}
				fmt.Fprintf(os.Stderr, "%s at %s: %s %s\n", s.Path, l.Short(), rec.Verdict.Outcome, strings.Join(rec.Verdict.Rules, "+"))
				if !wanted(&rec.Verdict, verdict) {
					continue
				}
				if err := out.Encode(&rec); err != nil {
					return fmt.Errorf("write a record: %w", err)
				}
			}
		}
	}
	return nil
}

// wanted reports whether a verdict is the one asked for: an outcome, or the name
// of a rule.
func wanted(v *oracle.Verdict, what string) bool {
	return what == "" || what == string(v.Outcome) || v.Outcome == oracle.Known && slices.Contains(v.Rules, what)
}
