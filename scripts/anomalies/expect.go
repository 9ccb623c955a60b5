package main

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// bar says from which level on a server must not show a kind of pattern.
type bar int

const (
	never            bar = iota // not at any level: servers that lock rows have no dirty write
	fromRC                      // what is read is committed
	fromRR                      // plain reads of a transaction come from one snapshot
	fromSnapshot                // a write of what changed since the snapshot is refused: RR with snapshot isolation, else SERIALIZABLE
	fromSerializable            // no cycle at all
)

// form is what the literature calls the kind of a pattern that is no cycle over
// several rows, and where it is barred.
type form struct {
	name string
	kind model.Kind // empty: no phenomenon of its own, only a meeting with an open transaction
	bar  bar
}

// forms was written down before any server was asked. Berenson et al. (1995), table 4,
// says it of the standard's levels; that InnoDB's REPEATABLE READ reads a snapshot and
// writes the newest rows is in its manual; so is it in PostgreSQL's that its REPEATABLE READ is snapshot isolation.
var forms = map[string]form{
	"dirty write":                  {"dirty write (P0, G0)", model.G0, never},
	"own write overwritten":        {"circular flow of information (G1c) by a dirty write", model.G1c, never},
	"dirty read":                   {"dirty read (P1)", "", fromRC},
	"intermediate read":            {"intermediate read (G1b)", model.G1b, fromRC},
	"non-repeatable read":          {"non-repeatable read (P2, G-single)", model.GSingleItem, fromRR},
	"lost update":                  {"lost update (P4)", model.LostUpdate, fromSnapshot},
	"aborted read":                 {"aborted read (G1a)", model.G1a, fromRC},
	"dirty write, one rolled back": {"dirty write, one rolled back (P0)", "", never},
	"aborted read by a condition":  {"aborted read (G1a) by a condition", model.G1a, fromRC},
	"phantom":                      {"phantom (P3, PMP)", model.GSingle, fromRR},
	"read skew, condition first":   {"read skew (G-single), the condition read first", model.GSingle, fromRR},
	"read skew, condition last":    {"read skew (G-single), the condition read last", model.GSingleItem, fromRR},
	"phantom met by an UPDATE":     {"phantom that an UPDATE meets (G-single)", model.GSingle, fromSnapshot},
	"write skew with a condition":  {"write skew with a condition (G2)", model.G2, fromSerializable},
}

// formOf returns the form of a pattern's kind. The edges of a cycle tell all: without
// an anti-dependency it takes a read or write of what is not committed. With one, its
// reader must have read, or written, behind it what came of the other side's commit:
// reading that takes a second snapshot, writing it does not. With two neighbouring ones
// it is write skew, which snapshot isolation allows (Fekete et al., 2005).
func formOf(p *pattern.Pattern) form {
	if f, ok := forms[p.Kind]; ok {
		return f
	}
	kinds := strings.Fields(p.Kind)
	rw := 0
	afterRead := false
	for i, k := range kinds {
		if k == string(pattern.RW) {
			rw++
			afterRead = kinds[(i+len(kinds)-1)%len(kinds)] == string(pattern.WR)
		}
	}
	switch {
	case rw == 0 && !strings.Contains(p.Kind, string(pattern.WR)):
		return form{"dirty write (G0)", model.G0, never}
	case rw == 0:
		return form{"circular flow of information (G1c)", model.G1c, fromRC}
	case rw == 1 && afterRead:
		return form{"read skew (G-single)", model.GSingleItem, fromRR}
	case rw == 1:
		return form{"read skew that a write meets (G-single)", model.GSingleItem, fromSnapshot}
	}
	return form{"write skew (G2-item)", model.G2Item, fromSerializable}
}

// allows says that a server may show what is barred from there on.
func (b bar) allows(s *history.Server, l corpus.Level) bool {
	at := map[bar]corpus.Level{never: corpus.ReadUncommitted, fromRC: corpus.ReadCommitted, fromRR: corpus.RepeatableRead, fromSnapshot: corpus.Serializable, fromSerializable: corpus.Serializable}[b]
	if b == fromSnapshot && isolatesSnapshots(s) {
		at = corpus.RepeatableRead
	}
	return l < at
}

func isolatesSnapshots(s *history.Server) bool {
	return s.DBMS == history.PostgreSQL || strings.EqualFold(s.Settings["innodb_snapshot_isolation"], "ON")
}

// promised is the model that a server promises at a level.
func promised(s *history.Server, l corpus.Level) (model.Promise, error) {
	name := string(s.DBMS)
	if s.DBMS == history.PostgreSQL {
		name = "postgres"
	}
	return model.Promised(name+":"+s.Version, l.Short(), s.Settings)
}
