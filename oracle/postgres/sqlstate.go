//go:build postgres

package postgres

import (
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// The conditions that the rules speak of.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	uniqueViolation  = "23505"
	deadlockDetected = "40P01"
	lockNotAvailable = "55P03"
	inFailedTxn      = "25P02"
	noTransaction    = "25P01"
	noSavepoint      = "3B001"
)

// Number is the error code that a history has for a SQLSTATE, since its codes are numbers: the
// SQLSTATE with a 9 for the letter P if that is one, else 1. It is for people, and not always
// unique; the engine itself goes by history.Error.State.
func Number(sqlstate string) uint16 {
	if n, err := strconv.ParseUint(strings.ReplaceAll(sqlstate, "P", "9"), 10, 16); err == nil && n > 0 {
		return uint16(n)
	}
	return 1
}

// stateOf is the SQLSTATE of an answer, "" for none.
func stateOf(res *history.Result) string {
	if res.Err == nil {
		return ""
	}
	return res.Err.State
}
