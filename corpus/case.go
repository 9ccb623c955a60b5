package corpus

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// InitSession is the session number of lines that set a case up.
const InitSession = 0

// Case is one test: set-up statements, then statements of several sessions in
// the order in which they are submitted. Treat a Case as immutable once it is
// shared; Clone one to change it.
type Case struct {
	// Header holds the `-- key: value` lines in order. `level` is one of them
	// (see Level); any key is allowed.
	Header []Field
	// Init holds the lines that make tables and rows, all of session 0.
	Init []Line
	// Steps holds the lines of the sessions in submitted order.
	Steps []Line
	// Tail holds comment lines behind the last statement, without `-- `.
	Tail []string
}

// Field is one header line.
type Field struct{ Key, Value string }

// Line is one statement of one session.
type Line struct {
	// Session is 1 for /* tx1 */ and so on, 0 for /* init */.
	Session int
	Stmt    ast.StmtNode
	// Above holds comment lines before the statement, without `-- `.
	Above []string
	// Note is the comment behind the statement, without `-- `.
	Note string
	// Hold, if not nil, is where the statement is held inside of the server. Of several the last counts.
	Hold *Hold
	// Frees says that the held statement is let go once this one has answered or is seen to be stopped by it.
	Frees bool
}

// Get returns the value of the first header line with this key.
func (c *Case) Get(key string) (string, bool) {
	for _, f := range c.Header {
		if f.Key == key {
			return f.Value, true
		}
	}
	return "", false
}

// Set replaces the value of the first header line with this key, or appends one.
func (c *Case) Set(key, value string) {
	for i, f := range c.Header {
		if f.Key == key {
			c.Header[i].Value = value
			return
		}
	}
	c.Header = append(c.Header, Field{key, value})
}

// Sessions returns the session numbers that occur in Steps, ascending.
func (c *Case) Sessions() []int {
	var out []int
	seen := map[int]bool{}
	for _, l := range c.Steps {
		if !seen[l.Session] {
			seen[l.Session] = true
			out = append(out, l.Session)
		}
	}
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}
