package solve

import "github.com/txnfuzz/txnfuzz/oracle/history"

// quirk names one way in which servers differ. Each is a line of the table
// below, and the evaluation asks for it by name: the table predicts values.
type quirk uint8

const (
	// emptyStringWarns: a string without anything numeric in it, the empty
	// string too, warns when it is read as a number.
	emptyStringWarns quirk = iota
	// spacesWarn: spaces behind the number in a string warn.
	spacesWarn
	// divisionKeepsWords: an intermediate quotient keeps all digits of its
	// nine-digit words; otherwise it is rounded to its declared scale at once.
	divisionKeepsWords
	// branchKeepsScale: IF gives the chosen decimal or integer as it is,
	// without padding to the scale of the result type.
	branchKeepsScale
	// setSeesOld: an UPDATE's SET list reads the row as it was before the
	// statement, not values assigned to its left.
	setSeesOld
	// betweenIsTwo: x BETWEEN a AND b compares each pair in its own type.
	betweenIsTwo
	// wideScale: decimals keep 38 digits behind the point, otherwise 30.
	wideScale
	quirks
)

type dialectLine struct {
	quirk quirk
	dbms  []history.DBMS
	doc   string
}

// dialectTable is the one place where servers differ: a line switches a quirk
// on for the servers it names.
var dialectTable = []dialectLine{
	{emptyStringWarns, []history.DBMS{history.MariaDB},
		"https://mariadb.com/docs/server/reference/sql-functions/string-functions/type-conversion"},
	{spacesWarn, []history.DBMS{history.MariaDB},
		"https://mariadb.com/docs/server/reference/sql-functions/string-functions/type-conversion"},
	{divisionKeepsWords, []history.DBMS{history.MariaDB, history.TiDB},
		"https://mariadb.com/docs/server/reference/sql-structure/operators/arithmetic-operators/division-operator"},
	{branchKeepsScale, []history.DBMS{history.MySQL},
		"https://dev.mysql.com/doc/refman/9.7/en/flow-control-functions.html"},
	{betweenIsTwo, []history.DBMS{history.TiDB},
		"https://docs.pingcap.com/tidb/stable/operators/"},
	{setSeesOld, []history.DBMS{history.TiDB},
		"https://docs.pingcap.com/tidb/stable/sql-statement-update#mysql-compatibility"},
	{wideScale, []history.DBMS{history.MariaDB},
		"https://mariadb.com/docs/server/reference/data-types/numeric-data-types/decimal"},
}

var quirkBits = func() map[history.DBMS]uint64 {
	m := map[history.DBMS]uint64{}
	for _, l := range dialectTable {
		for _, db := range l.dbms {
			m[db] |= 1 << l.quirk
		}
	}
	return m
}()

func (d Dialect) is(q quirk) bool { return d.quirks&(1<<q) != 0 }

func (d Dialect) maxScale() int {
	if d.is(wideScale) {
		return 38
	}
	return 30
}
