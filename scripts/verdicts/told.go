package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	entries "github.com/txnfuzz/txnfuzz/oracle/record"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
)

func toldCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "told FILE…",
		Short: "Count the waits of recorded histories whose place the server told, by the index's first column",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			for _, f := range files {
				t := told{}
				if err := t.file(cmd.Context(), f); err != nil {
					return err
				}
				if err := t.print(cmd.OutOrStdout()); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// told counts waits for rows by server and type.
type told map[string]*toldCount

// toldCount: of all waits, those whose place the server told at all, and those whose
// record is known from it.
type toldCount struct{ waits, placed, known int }

func (t told) file(ctx context.Context, name string) error {
	return eachRecord(name, func(_ int, r *oracle.Record) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return t.add(r)
	})
}

func (t told) add(r *oracle.Record) error {
	c, err := corpus.Parse("record.sql", []byte(r.Case))
	if err != nil {
		return err
	}
	server := string(r.History.Server.DBMS) + " " + r.History.Server.Version
	count := func(kind string, placed, known bool) {
		for _, key := range []string{server + "\tall", server + "\t" + kind} {
			if t[key] == nil {
				t[key] = new(toldCount)
			}
			n := t[key]
			n.waits++
			if placed {
				n.placed++
			}
			if known {
				n.known++
			}
		}
	}
	waits := oracle.Tell(c, r.History, &r.Verdict).Waits
	for i, s := range r.History.Stmts {
		for k, w := range s.Waits {
			if w.Kind != history.RowLock {
				continue
			}
			at := slices.IndexFunc(waits, func(x mvcc.WaitedAt) bool { return x.Stmt == i && x.Wait == k })
			if at < 0 {
				count("nothing told", false, false)
				continue
			}
			count(kindOf(&waits[at]), true, waits[at].Known)
		}
	}
	return nil
}

var classes = map[solve.Class]string{
	solve.IntClass: "integer", solve.DecimalClass: "DECIMAL", solve.DoubleClass: "DOUBLE", solve.FloatClass: "FLOAT",
	solve.StringClass: "text", solve.DateClass: "DATE", solve.DatetimeClass: "DATETIME", solve.TimestampClass: "TIMESTAMP",
	solve.TimeClass: "TIME", solve.YearClass: "YEAR", solve.EnumClass: "ENUM", solve.SetClass: "SET", solve.BitClass: "BIT",
}

// kindOf names what a place is: the end of an index, or the type of the first column.
func kindOf(w *mvcc.WaitedAt) string {
	switch {
	case w.At.Kind == history.Supremum:
		return "end of an index"
	case w.Table == nil:
		return "table not known"
	case w.At.Index == entries.HiddenIndex:
		return "hidden clustered index"
	case len(w.At.Fields) == 0:
		return "record not printed"
	}
	column := 0
	switch {
	case w.Key != nil:
		column = w.Key.Columns[0]
	case w.Clustered != nil:
		column = w.Clustered.Columns[0]
	}
	return classes[w.Table.Columns[column].Type.Class]
}

func (t told) print(out io.Writer) error {
	keys := make([]string, 0, len(t))
	for k := range t {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "server\tfirst column\twaits\tplace told\trecord known")
	for _, k := range keys {
		n := t[k]
		fmt.Fprintf(tw, "%s\t%d\t%.1f %%\t%.1f %%\n", k, n.waits, 100*float64(n.placed)/float64(n.waits), 100*float64(n.known)/float64(n.waits))
	}
	return tw.Flush()
}
