package postgres

import "github.com/txnfuzz/txnfuzz/oracle/history"

// The conditions that the rules speak of.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	uniqueViolation  = "23505"
	deadlockDetected = "40P01"
	lockNotAvailable = "55P03"
	inFailedTxn      = "25P02"
	ofValue          = "22" // a class: what cannot be computed
	ofText           = "42" // a class: errors of syntax, names and types, whatever the rows are
	noTransaction    = "25P01"
	noSavepoint      = "3B001"
	queryCanceled    = "57014"
	syntaxError      = "42601"

	activeTransaction = "25001"
	undefinedObject   = "42704"
	duplicateObject   = "42710"
	notInState        = "55000"
	notSupported      = "0A000"
)

// stateOf is the SQLSTATE of an answer, "" for none.
func stateOf(res *history.Result) string {
	if res.Err == nil {
		return ""
	}
	return res.Err.State
}
