package history

import (
	"fmt"
	"regexp"
	"strings"
)

// ScratchPrefix begins the names of the databases that cases run in.
const ScratchPrefix = "txnfuzz_"

var (
	scratchQualifier = regexp.MustCompile("(`" + ScratchPrefix + "[0-9A-Za-z_]+`|\\b" + ScratchPrefix + "[0-9A-Za-z_]+)(\\.|/)")
	scratchName      = regexp.MustCompile(`\b` + ScratchPrefix + `[0-9A-Za-z_]+`)
)

// Unscratched takes the names of databases in which cases run, other ones in each run,
// out of a server's text: a table needs no qualifier, and a database is called test.
func Unscratched(text string) string {
	if !strings.Contains(text, ScratchPrefix) {
		return text
	}
	return scratchName.ReplaceAllString(scratchQualifier.ReplaceAllString(text, ""), "test")
}

// String prints an error for people, on one line, and is the only place that does.
func (e *Error) String() string {
	if e.State != "" && e.Code == NumberOf(e.State) { // PostgreSQL's
		return fmt.Sprintf("error %s (%s)", e.State, strings.Join(strings.Fields(Unscratched(e.Message)), " "))
	}
	return fmt.Sprintf("error %d (%s)", e.Code, strings.Join(strings.Fields(Unscratched(e.Message)), " "))
}
