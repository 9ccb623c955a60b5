package mutate

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/mutate/pattern"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Conflict names a strategy of conflict construction.
type Conflict string

// The strategies; see conflict.go, and weave.go for Pattern. Mix chooses one of the
// first four per case.
const (
	None    Conflict = "none"
	FSF     Conflict = "fsf"
	PSF     Conflict = "psf"
	CTC     Conflict = "ctc"
	Pattern Conflict = "pattern"
	Mix     Conflict = "mix"
)

// ParseConflict reads the name of a strategy.
func ParseConflict(s string) (Conflict, error) {
	if c := Conflict(s); slices.Contains([]Conflict{None, FSF, PSF, CTC, Pattern, Mix}, c) {
		return c, nil
	}
	return "", fmt.Errorf("unknown conflict strategy %q: want none, fsf, psf, ctc, pattern or mix", s)
}

// Options bounds what is generated. The zero value stands for the defaults.
type Options struct {
	// Levels are the isolation levels to choose from, the simplest first.
	// Default: READ COMMITTED and REPEATABLE READ.
	Levels []corpus.Level
	// DBMS is the family that the case will run on: TiDB has no FOR SHARE
	// unless it is configured to. Default: none in particular.
	DBMS history.DBMS
	// ShareLocks says that the server takes FOR SHARE although the family
	// does not by default.
	ShareLocks bool
	// SkipLocked says that the server takes SKIP LOCKED, and does not ignore it.
	SkipLocked bool
	// AllTypes adds DECIMAL, CHAR, DATE and DATETIME columns to integers and
	// VARCHAR.
	AllTypes bool
	// Conflict is the strategy of conflict construction. Default: Mix.
	Conflict Conflict
	// Pattern is what the first transactions follow under the strategy Pattern, if the
	// tables have rows for it. Default: the input chooses.
	Pattern *pattern.Pattern
	// NumTx is the number of transactions, 2 or 3, of inputs that do not say it
	// themselves as wide ones do; a third has few bytes there. Default: 2.
	NumTx int
	// Tables is the largest number of tables, 1 or 2. Default: 1.
	Tables int
	// MaxStatements bounds the statements of one transaction, its begin and
	// end not counted. Default and largest value: 10.
	MaxStatements int
	// MaxRows bounds the rows of a table. Default and largest value: 10.
	MaxRows int
	// Orders is the largest number of submitted orders made of one set of
	// transactions. Default: 2.
	Orders int
	// Computed is how many, out of 256, of the inputs with a rarer form of statement
	// have one that only the server can compute. Default: none.
	Computed int
	// Replicated says that the server has a replica that is sent rows: some tables have no key that names these.
	Replicated bool
	// Schema is tables on which fresh cases are made; nil: random ones.
	Schema *Schema
	// Solver judges predicates for the strategy CTC. Default: the statement
	// solver in the dialect of DBMS.
	Solver Solver
}

const (
	maxStatements = 10
	maxRows       = 10
	maxTx         = 3
	maxTables     = 2
)

// withDefaults fills in what the caller left out.
func (o Options) withDefaults() *Options {
	if len(o.Levels) == 0 {
		o.Levels = []corpus.Level{corpus.ReadCommitted, corpus.RepeatableRead}
	}
	if o.Conflict == "" {
		o.Conflict = Mix
	}
	if o.Conflict != Pattern {
		o.Pattern = nil
	}
	o.NumTx = bounded(o.NumTx, 2, maxTx, 2)
	o.Tables = bounded(o.Tables, 1, maxTables, 1)
	o.MaxStatements = bounded(o.MaxStatements, 1, maxStatements, maxStatements)
	o.MaxRows = bounded(o.MaxRows, 1, maxRows, maxRows)
	if o.Orders <= 0 {
		o.Orders = 2
	}
	if o.Solver == nil {
		o.Solver = statementSolver{dialectFor(o.DBMS)}
	}
	return &o
}

// bounded returns def for 0 and otherwise n within [lo, hi].
func bounded(n, lo, hi, def int) int {
	if n == 0 {
		return def
	}
	return max(lo, min(n, hi))
}

// shareLocks says whether FOR SHARE is more than an error.
func (o *Options) shareLocks() bool { return o.ShareLocks || o.DBMS != history.TiDB }

func (o *Options) dataTypes() []weighted[*dataType] {
	switch {
	case o.DBMS == history.PostgreSQL:
		return postgresDataTypes
	case o.AllTypes:
		return allDataTypes
	}
	return dataTypes
}
