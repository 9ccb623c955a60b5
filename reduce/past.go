package reduce

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Pasts returns variants of a case whose set-up does to new tables what a campaign
// does to those that it fills again and again: rows are inserted and deleted
// before those of the case come, so that their entries are there until they are
// purged, which changes what is locked and where scans stop. h is a run of the
// case; what it left, and what the case began with, are such rows. The first
// variant has both, others have one of them. Set-ups other than CREATE TABLE and
// INSERT have no variants.
func Pasts(c *corpus.Case, h *history.History) []*corpus.Case {
	if h == nil || len(h.Final) == 0 {
		return nil
	}
	var creates, inserts []corpus.Line
	var deletes []corpus.Line
	for _, l := range c.Init {
		switch s := l.Stmt.(type) {
		case *ast.CreateTableStmt:
			creates = append(creates, l)
			del, err := line("DELETE FROM " + quoted(s.Table.Name.O))
			if err != nil {
				return nil
			}
			deletes = append(deletes, del)
		case *ast.InsertStmt:
			inserts = append(inserts, l)
		default:
			return nil
		}
	}
	var left []corpus.Line
	for i := range h.Final {
		t := &h.Final[i]
		if len(t.Rows) == 0 {
			continue
		}
		l, err := line(t.Insert(history.WrittenFor(c, t.Name)))
		if err != nil {
			return nil
		}
		left = append(left, l)
	}
	variant := func(before ...[]corpus.Line) *corpus.Case {
		v := &corpus.Case{Header: slices.Clone(c.Header), Steps: c.Steps}
		v.Init = slices.Clone(creates)
		for _, rows := range before {
			v.Init = append(append(v.Init, rows...), deletes...)
		}
		v.Init = append(v.Init, inserts...)
		return v.Clone()
	}
	out := []*corpus.Case{}
	if len(left) > 0 {
		out = append(out, variant(inserts, left), variant(left))
	}
	return append(out, variant(inserts))
}

func line(sql string) (corpus.Line, error) {
	stmt, err := corpus.ParseStatement(sql)
	if err != nil {
		return corpus.Line{}, fmt.Errorf("write a set-up: %w", err)
	}
	return corpus.Line{Session: corpus.InitSession, Stmt: stmt}, nil
}

func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
