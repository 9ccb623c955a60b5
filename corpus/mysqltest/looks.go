package mysqltest

import "regexp"

var connects = regexp.MustCompile(`(?mi)^[ \t]*(--[ \t]*)?(connect[ \t]*\(|connection[ \t]+[$a-z0-9_]+[ \t]*(;|$))`)

// Looks reports whether a text is a test file with connections: most have none, and other tools have files with this
// ending, too.
func Looks(text []byte) bool { return connects.Match(text) }
