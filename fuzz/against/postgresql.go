package against

import (
	"regexp"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// postgresFunctions are those that some of the versions of PostgreSQL that can be tested have not. On these a statement
// that calls one fails with error 42883.
var postgresFunctions = []struct {
	calls      *regexp.Regexp
	says, link string
}{
	{regexp.MustCompile(`(?i)\bBIT_COUNT\s*\(`), "bit_count, a function that PostgreSQL has since version 14",
		"https://www.postgresql.org/docs/14/release-14.html"},
}

// noFunction is the number of PostgreSQL's error 42883.
const noFunction = 42883

// byFunction puts a difference down to a function that only one of the servers has.
func (p *pair) byFunction(d *Difference) bool {
	if !p.postgres() || d.Stmt < 0 || d.Kind != Error && d.Kind != Wait || // it fails before it comes to a lock
		(d.codes[0] == noFunction) == (d.codes[1] == noFunction) {
		return false
	}
	for _, f := range postgresFunctions {
		if p.matches(d, f.calls) {
			d.Attribution, d.Reason, d.Link = Dialect, f.says, f.link
			return true
		}
	}
	return false
}

// postgres says that both servers are PostgreSQL.
func (p *pair) postgres() bool {
	return p.side[0].Server.DBMS == history.PostgreSQL && p.side[1].Server.DBMS == history.PostgreSQL
}

// postgresChoices are asked in place of choices: PostgreSQL locks the rows that a statement finds, and no others.
var postgresChoices = []choice{
	{kind: Error, codes: []uint16{postgresDeadlock}, link: postgresDeadlocks, says: deadlockVictim},
	{kind: Wait, codes: []uint16{postgresDeadlock}, link: postgresDeadlocks, says: deadlockVictim},
}

// postgresDeadlock is the number of PostgreSQL's error 40P01.
const postgresDeadlock = 40901

const (
	postgresDeadlocks = "https://www.postgresql.org/docs/current/explicit-locking.html#LOCKING-DEADLOCKS"
	deadlockVictim    = "which of its transactions a deadlock rolls back is difficult to predict, as the manual says"
)
