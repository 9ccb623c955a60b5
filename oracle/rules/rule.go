package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Dimension is one question that an engine answers in one of several ways.
type Dimension uint8

// Variant is one answer to the question of a dimension.
type Variant uint8

// Status says who vouches for a variant.
type Status string

const (
	// Promised: the SQL standard or the vendor's definition of the level.
	Promised Status = "promised"
	// Documented: the vendor's manual describes it, although the level's
	// definition alone would not make one expect it.
	Documented Status = "documented"
	// Deviation: servers do it, no manual promises it.
	Deviation Status = "deviation"
)

// Rule is one row of the table.
type Rule struct {
	// Name is that of the deviation, in kebab case; rows of one name extend its
	// scope. Empty for rows that are not deviations, never named in a verdict.
	Name    string
	Dim     Dimension
	Variant Variant
	Scope   Scope
	Status  Status
	// Links holds the vendor's page, or the tracker's threads.
	Links []string
	// Says is the rule as a sentence, as `show` prints it.
	Says string
}

// Scope says where a rule holds. Empty fields do not restrict.
type Scope struct {
	DBMS   []history.DBMS
	Levels []corpus.Level
	// Settings must all be equal; a missing setting equals "".
	Settings map[string]string
	// Before holds the versions that are the first of their series to be out of
	// scope, series ascending, for example 10.6.23, 10.11.14. Older series than
	// the first are in scope, series that are not listed are not. Of TiDB, whose
	// version comes behind that of MySQL, they are its own.
	Before []string
}

// Covers reports whether the scope includes a server at a level.
func (s Scope) Covers(srv history.Server, l corpus.Level) bool {
	if len(s.DBMS) > 0 && !slices.Contains(s.DBMS, srv.DBMS) {
		return false
	}
	if len(s.Levels) > 0 && !slices.Contains(s.Levels, l) {
		return false
	}
	for k, v := range s.Settings {
		if srv.Settings[k] != v {
			return false
		}
	}
	return len(s.Before) == 0 || before(release(srv), s.Before)
}

// release returns the part of a server's version that counts: of TiDB, which reports
// 8.0.11-TiDB-v8.5.4, what is behind TiDB-v. A TiDB that was built without its Makefile
// reports None until 8.4, later v8.4.0-this-is-a-placeholder; None is taken for the commit of
// July 2024 that was built in once.
func release(srv history.Server) string {
	if srv.DBMS != history.TiDB {
		return srv.Version
	}
	v := srv.Version
	if _, own, ok := strings.Cut(v, "-TiDB-"); ok {
		v = own
	}
	if v == "None" {
		return "8.2.0"
	}
	return strings.TrimPrefix(v, "v")
}

// before reports whether a version is older than the first of its series in the
// list, or of an older series than all of them. A version that is no version is
// not.
func before(version string, firsts []string) bool {
	v, ok := numbers(version)
	for i, f := range firsts {
		w, _ := numbers(f)
		switch d := slices.Compare(v[:2], w[:2]); {
		case !ok:
			return false
		case d == 0:
			return v[2] < w[2]
		case d < 0 && i == 0:
			return true
		}
	}
	return false
}

// SkipsLocked reports whether a server knows SKIP LOCKED and does as it says: TiDB reads it
// and ignores it. A version that is no version does not.
// https://dev.mysql.com/doc/refman/en/innodb-locking-reads.html#innodb-locking-reads-nowait-skip-locked
// https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/selecting-data/select-skip-locked
func SkipsLocked(s history.Server) bool {
	v, ok := numbers(s.Version)
	switch {
	case !ok:
		return false
	case s.DBMS == history.MariaDB:
		return slices.Compare(v[:2], []int{10, 6}) >= 0
	}
	return s.DBMS == history.MySQL && v[0] >= 8
}

// numbers reads major, minor and patch from the front of a version.
func numbers(version string) (v [3]int, ok bool) {
	for i := range v { // without fmt, since every history comes by here
		digits := len(version) - len(strings.TrimLeft(version, "0123456789"))
		n, err := strconv.Atoi(version[:digits])
		if err != nil {
			return v, false
		}
		v[i] = n
		if version, ok = strings.CutPrefix(version[digits:], "."); !ok && i < len(v)-1 {
			return v, false
		}
	}
	return v, true
}

// Set is the answer to every dimension at one level.
type Set [numDimensions]Variant

// Profile is the answer to every dimension at every level on one server, and its traits.
type Profile struct {
	server history.Server
	sets   [len(levelIndex)]Set
	traits uint16
}

var levelIndex = [...]corpus.Level{0, corpus.ReadUncommitted, corpus.ReadCommitted, corpus.RepeatableRead, corpus.Serializable}

// For returns what the server promises and documents: the rows of the table
// that are no deviations, later rows overriding earlier ones.
func For(srv history.Server) Profile {
	p := Profile{server: srv, traits: traitsOf(srv.DBMS)}
	for i := range Table {
		if Table[i].Status != Deviation {
			p.apply(&Table[i])
		}
	}
	return p
}

// With returns the profile with one more rule applied, at the levels that its
// scope covers.
func (p Profile) With(r *Rule) Profile {
	p.apply(r)
	return p
}

func (p *Profile) apply(r *Rule) {
	for _, l := range corpus.Levels {
		if r.Scope.Covers(p.server, l) {
			p.sets[l][r.Dim] = r.Variant
		}
	}
}

// At returns the rules that hold at one level.
func (p *Profile) At(l corpus.Level) *Set { return &p.sets[l] }

// Server returns the server that the profile describes.
func (p Profile) Server() history.Server { return p.server }

// Deviations returns the deviations that are in scope on a server at one of
// the given levels, in the order of the table.
func Deviations(srv history.Server, levels []corpus.Level) []*Rule {
	return pick(func(r *Rule) bool { return r.coversAny(srv, levels) })
}

// DeviationIn returns the first deviation in a dimension that is in scope on a server at a level, nil if there is none.
func DeviationIn(srv history.Server, l corpus.Level, d Dimension) *Rule {
	for _, r := range Deviations(srv, []corpus.Level{l}) {
		if r.Dim == d {
			return r
		}
	}
	return nil
}

// OutOfScope returns the deviations of the table that are recorded for other
// servers, settings or levels only, with their scope lifted to the given
// server: a history that only such a rule predicts is a violation of a named
// kind.
func OutOfScope(srv history.Server, levels []corpus.Level) []*Rule {
	out := pick(func(r *Rule) bool { return !r.coversAny(srv, levels) })
	for i, r := range out {
		lifted := *r
		lifted.Scope = Scope{}
		out[i] = &lifted
	}
	return out
}

func (r *Rule) coversAny(srv history.Server, levels []corpus.Level) bool {
	for _, l := range levels {
		if r.Scope.Covers(srv, l) {
			return true
		}
	}
	return false
}

func pick(keep func(*Rule) bool) []*Rule {
	var out []*Rule
	for i := range Table {
		if Table[i].Status == Deviation && keep(&Table[i]) {
			out = append(out, &Table[i])
		}
	}
	return out
}

// ByName returns the deviation with this name, or nil.
func ByName(name string) *Rule {
	for i := range Table {
		if Table[i].Status == Deviation && Table[i].Name == name {
			return &Table[i]
		}
	}
	return nil
}

// Holding returns the rows of the table, deviations aside, that answer the given
// dimensions on a server at a level, in the order of the dimensions.
func Holding(srv history.Server, l corpus.Level, dims ...Dimension) []*Rule {
	var out []*Rule
	for _, d := range dims {
		var found *Rule
		for i := range Table {
			if r := &Table[i]; r.Dim == d && r.Status != Deviation && r.Scope.Covers(srv, l) {
				found = r
			}
		}
		if found != nil {
			out = append(out, found)
		}
	}
	return out
}

// Named returns the row of a deviation that is in scope on a server at one of
// the levels, else its first row; no row for an unknown name.
func Named(srv history.Server, levels []corpus.Level, name string) []*Rule {
	for _, r := range Deviations(srv, levels) {
		if r.Name == name {
			return []*Rule{r}
		}
	}
	if r := ByName(name); r != nil {
		return []*Rule{r}
	}
	return nil
}

// CountAsOne are pairs of dimensions whose deviations come together so often that an
// explanation counts them as one: error 1020 is left out for a record that was changed and for
// one that is gone; and a look-up can end at a row's old self only where a change of its key
// left that visible.
var CountAsOne = [][2]Dimension{{RecordChanged, RecordGone}, {KeyChange, UniqueLookup}}

// PlacesWait reports whether a rule moves where a statement waits, which shows only in what
// another one sees meanwhile.
func (r *Rule) PlacesWait() bool { return r.Dim == Resumption || r.Dim == LockedRow }
