package against

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// byCode puts a difference down to the numbers that the servers have for one error.
func (p *pair) byCode(d *Difference) bool {
	if d.Kind != Error {
		return false
	}
	x, y := d.codes[0], d.codes[1]
	a, b := p.side[0].Server.DBMS, p.side[1].Server.DBMS
	for i := range sameErrors {
		s := &sameErrors[i]
		if s.dbms == [2]history.DBMS{a, b} && s.codes == [2]uint16{x, y} || s.dbms == [2]history.DBMS{b, a} && s.codes == [2]uint16{y, x} {
			d.Attribution, d.Reason, d.Link = ErrorCode, s.says, s.link
			return true
		}
	}
	return false
}

// byDialect puts a difference down to how servers of two series spell, count or store
// the same. Of one series they have one dialect.
func (p *pair) byDialect(d *Difference) bool {
	if p.strict {
		return false
	}
	if p.byFunction(d) {
		return true
	}
	for i := range dialects {
		if x := &dialects[i]; x.fits(p, d) {
			d.Attribution, d.Reason, d.Link = Dialect, x.says, x.link
			return true
		}
	}
	return false
}

// dialect is a way in which servers say the same differently.
type dialect struct {
	fits       func(*pair, *Difference) bool
	says, link string
}

var dialects = []dialect{
	{errorOfValue, "a value that cannot be computed or converted: whether that is an error, and on which rows it is tried, is the server's own affair",
		"https://dev.mysql.com/doc/refman/en/type-conversion.html"},
	{refusedByText, "the SQL of one server that the other's parser, names or clauses do not take: sent alone, it fails there in the same way",
		"https://mariadb.com/docs/release-notes/community-server/about/compatibility-and-differences/mariadb-vs-mysql-compatibility"},
	{timeOutIgnored, "IGNORE makes a warning of a lock's time-out on MariaDB, and leaves it an error on MySQL",
		"https://mariadb.com/docs/server/reference/sql-statements/data-manipulation/inserting-loading-data/ignore"},
	{setUpRefused, "the SQL of one server's tables that the other does not take",
		"https://mariadb.com/docs/release-notes/community-server/about/compatibility-and-differences/mariadb-vs-mysql-compatibility"},
	{levelRefused, "a level that one of the servers does not have",
		"https://docs.pingcap.com/tidb/stable/transaction-isolation-levels"},
	{warns(stmt.BeginSnapshot, ""), "MySQL warns that WITH CONSISTENT SNAPSHOT takes none at levels other than REPEATABLE READ",
		"https://dev.mysql.com/doc/refman/en/commit.html"},
	{warns("", `\bAS UNSIGNED\b`), "MariaDB warns of each negative number that becomes an unsigned one",
		"https://mariadb.com/docs/server/reference/sql-functions/string-functions/cast"},
	{warns("", `/\*\+`), "MySQL warns of hints that it does not know",
		"https://dev.mysql.com/doc/refman/en/optimizer-hints.html"},
	{warns("", `\bSQL_CALC_FOUND_ROWS\b`), "MySQL warns that SQL_CALC_FOUND_ROWS is outdated",
		"https://dev.mysql.com/doc/refman/en/information-functions.html#function_found-rows"},
	{warns(stmt.Insert, `\bVALUES\(\S+\)( |$|,)`), "MySQL warns that VALUES() in ON DUPLICATE KEY UPDATE is outdated",
		"https://dev.mysql.com/doc/refman/en/insert-on-duplicate.html"},
	{warns("", ""), "how many warnings a conversion gives depends on the rows that the server tries it on",
		"https://dev.mysql.com/doc/refman/en/type-conversion.html"},
	{sameNumbers, "the same numbers, written with other digits",
		"https://dev.mysql.com/doc/refman/en/problems-with-float.html"},
}

// errorsOfValues are those by which servers say that they cannot compute or store a value.
// https://dev.mysql.com/doc/mysql-errors/en/server-error-reference.html
// https://mariadb.com/docs/server/reference/error-codes
var errorsOfValues = []uint16{1264, 1265, 1292, 1365, 1366, 1367, 1406, 1411, 1441, 1525, 1690, 1916, 1918}

// errorOfValue tells a statement that fails for a value on one server only, or on both for
// another: an error of locks or keys on the other side is none of this.
func errorOfValue(_ *pair, d *Difference) bool {
	of := func(code uint16) bool { return slices.Contains(errorsOfValues, code) }
	x, y := d.codes[0], d.codes[1]
	switch d.Kind {
	case Error:
		return of(x) && (y == 0 || of(y)) || x == 0 && of(y)
	case Wait: // it fails before it comes to a lock
		return of(x) || of(y)
	}
	return false
}

// timeOutIgnored tells a statement with IGNORE that timed out on one server only.
func timeOutIgnored(p *pair, d *Difference) bool {
	const timeOut = 1205
	return d.Kind == Error && (d.codes == [2]uint16{timeOut, 0} || d.codes == [2]uint16{0, timeOut}) && p.matches(d, ignore)
}

var ignore = regexp.MustCompile(`\bIGNORE\b`)

// matches reports whether the text of a difference's statement matches.
func (p *pair) matches(d *Difference, pattern *regexp.Regexp) bool {
	return pattern.MatchString(corpus.SQL(p.c.Steps[p.h[0].Stmts[d.Stmt].Line].Stmt, corpus.Text))
}

func refusedByText(p *pair, d *Difference) bool {
	if d.Stmt < 0 || d.Kind != Error || d.Statement == stmt.RollbackTo || d.Statement == stmt.ReleaseSavepoint {
		return false // alone, there is no savepoint
	}
	for i, s := range p.side {
		if p.h[i].Stmts[d.Stmt].RefusedAlone || slices.Contains(s.Verdict.Refused, d.Stmt) {
			return true
		}
	}
	return false
}

func setUpRefused(p *pair, d *Difference) bool {
	return d.Kind == Run && (p.h[0] == nil) != (p.h[1] == nil) && p.unrun("init-error")
}

func levelRefused(p *pair, d *Difference) bool {
	return d.Kind == Run && p.unrun("unsupported-level")
}

// unrun reports whether a server did not run the case for this reason.
func (p *pair) unrun(reason string) bool {
	return p.h[0] == nil && p.side[0].Verdict.Reason == reason || p.h[1] == nil && p.side[1].Verdict.Reason == reason
}

// warns tells a statement that gives more warnings on one server, by its kind, "" for any,
// and by a pattern that its text must match.
func warns(kind stmt.Kind, pattern string) func(*pair, *Difference) bool {
	sql := regexp.MustCompile(pattern)
	return func(p *pair, d *Difference) bool {
		return d.Kind == Warnings && (kind == "" || d.Statement == kind) && p.matches(d, sql)
	}
}

// sameNumbers reports whether rows differ only in the digits of numbers that are equal in
// the precision of a FLOAT.
func sameNumbers(p *pair, d *Difference) bool {
	if d.Kind != Rows {
		return false
	}
	a, b := p.h[0].Stmts[d.Stmt].Result.Rows, p.h[1].Stmts[d.Stmt].Result.Rows
	return slices.EqualFunc(a, b, func(x, y []history.Cell) bool { return slices.EqualFunc(x, y, sameNumber) })
}

func sameNumber(x, y history.Cell) bool {
	if x == y {
		return true
	}
	f, e1 := strconv.ParseFloat(x.Text, 32)
	g, e2 := strconv.ParseFloat(y.Text, 32)
	return !x.Null && !y.Null && e1 == nil && e2 == nil && f == g
}
