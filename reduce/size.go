package reduce

import (
	"cmp"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Size orders cases. Its fields are compared in the order they are declared;
// all are natural numbers, so every chain of strictly smaller cases ends, and
// with it the reduction.
type Size struct {
	// Statements counts lines: set-up and steps.
	Statements int `json:"statements"`
	// Tokens counts words, numbers, strings and signs of the SQL text.
	Tokens int `json:"tokens"`
	// Columns counts references to columns in expressions: at equal length a
	// constant says less than a column.
	Columns int `json:"columns"`
	// Switches counts neighbouring steps of different sessions.
	Switches int `json:"switches"`
	// Spread counts, for each session, the foreign steps inside its lifetime.
	Spread int `json:"spread"`
	// Levels counts the isolation levels that the header names, less one.
	Levels int `json:"levels"`
	// Types counts the table columns that are not INT.
	Types int `json:"types"`
	// Literals sums the magnitudes of constants; see literalWeight.
	Literals uint64 `json:"literals"`
	// Names counts tables, columns and sessions without their canonical name.
	Names int `json:"names"`
}

// Compare returns -1, 0 or +1 as s is smaller than, equal to or larger than t.
func (s Size) Compare(t Size) int {
	return cmp.Or(
		cmp.Compare(s.Statements, t.Statements),
		cmp.Compare(s.Tokens, t.Tokens),
		cmp.Compare(s.Columns, t.Columns),
		cmp.Compare(s.Switches, t.Switches),
		cmp.Compare(s.Spread, t.Spread),
		cmp.Compare(s.Levels, t.Levels),
		cmp.Compare(s.Types, t.Types),
		cmp.Compare(s.Literals, t.Literals),
		cmp.Compare(s.Names, t.Names),
	)
}

// interleaving measures an order: how often the session changes from one step
// to the next, and how many foreign steps lie within the sessions' lifetimes.
func interleaving(steps []entry) (switches, spread int) {
	first, last, count := map[int]int{}, map[int]int{}, map[int]int{}
	for i, e := range steps {
		if i > 0 && steps[i-1].session != e.session {
			switches++
		}
		if _, ok := first[e.session]; !ok {
			first[e.session] = i
		}
		last[e.session] = i
		count[e.session]++
	}
	for s, n := range count {
		spread += last[s] - first[s] + 1 - n
	}
	return switches, spread
}

// countTokens counts the lexical tokens of SQL text. A sign of several
// characters such as <=> is one token, a quoted name or string too.
func countTokens(text string) int {
	n := 0
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c <= ' ':
			i++
			continue
		case c == '\'' || c == '"' || c == '`':
			if i = corpus.EndOfQuote(text, i); i < 0 {
				i = len(text)
			}
		case isWord(c):
			for i < len(text) && (isWord(text[i]) || text[i] == '.' && i+1 < len(text) && isDigit(text[i+1])) {
				i++
			}
		case isOperator(c):
			for i < len(text) && isOperator(text[i]) {
				i++
			}
		default:
			i++
		}
		n++
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return c == '_' || c == '@' || c == '$' || c >= 0x80 || isDigit(c) ||
		c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isOperator(c byte) bool {
	switch c {
	case '<', '>', '=', '!', '|', '&', ':':
		return true
	}
	return false
}
