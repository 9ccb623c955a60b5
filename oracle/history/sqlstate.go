package history

import (
	"strconv"
	"strings"
)

// NumberOf is the error code that a history has for a SQLSTATE of PostgreSQL, since its codes are
// numbers: the SQLSTATE with a 9 for the letter P if that is one, else 1. It is for people, and not
// always unique; rules go by Error.State.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
func NumberOf(sqlstate string) uint16 {
	if n, err := strconv.ParseUint(strings.ReplaceAll(sqlstate, "P", "9"), 10, 16); err == nil && n > 0 {
		return uint16(n)
	}
	return letters
}

// letters is the number of every SQLSTATE that has other letters.
const letters = 1
