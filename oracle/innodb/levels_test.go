package innodb

import (
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/mvcc"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

func TestLevels(t *testing.T) {
	c := &corpus.Case{Steps: []corpus.Line{
		{Stmt: statement(t, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")},
		{Stmt: statement(t, "BEGIN")},
		{Stmt: statement(t, "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")},
	}}
	h := &history.History{
		Levels: map[int]corpus.Level{1: corpus.Serializable, 2: corpus.Serializable},
		Stmts:  []history.Stmt{{Session: 1, Line: 0}, {Session: 1, Line: 1}},
	}
	// What was not sent was not set.
	if got, want := mvcc.Levels(c, h), []corpus.Level{corpus.ReadCommitted, corpus.Serializable}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestQueued(t *testing.T) {
	e, tbl := scene(t, "CREATE TABLE t (a INT)", "1", "2")
	holder, writer, reader := &versions.Txn{Session: 1}, &versions.Txn{Session: 2}, &versions.Txn{Session: 3}
	first, second := tbl.Chains[0], tbl.Chains[1]
	e.locks.Take(versions.Lock{Txn: holder, Row: first, Mode: versions.Share})
	e.running[2] = &running{e: e, tx: writer, at: first, wants: versions.Exclusive}
	tests := []struct {
		name string
		c    *versions.Chain
		tx   *versions.Txn
		mode versions.Mode
		want *versions.Txn
	}{
		{"a share lock behind an exclusive request", first, reader, versions.Share, writer},
		{"another record", second, reader, versions.Share, nil},
		{"who holds a lock there", first, holder, versions.Share, nil},
		{"the waiting transaction itself", first, writer, versions.Exclusive, nil},
	}
	for _, tt := range tests {
		if got := e.queued(tt.c, tt.tx, tt.mode); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	e.running[2].wants = versions.Share
	if got := e.queued(first, reader, versions.Share); got != nil {
		t.Errorf("a share lock behind a request for another: got %v", got)
	}
}
