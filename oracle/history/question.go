package history

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Question is what a judge that cannot compute SQL asks of the server: what does a
// statement answer on these rows, with nothing else going on?
type Question struct {
	SQL string `json:"sql"`
	// Tables holds the tables that the statement names, with their rows. They have the
	// definitions of the case.
	Tables []Table `json:"tables"`
	// Plan asks for the statement's plan, as a table, in place of its answer.
	Plan bool `json:"plan,omitempty"`
}

// Key is the same for equal questions, whatever the order of rows: no statement may
// depend on that.
func (q *Question) Key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q\n", q.SQL)
	if q.Plan {
		b.WriteString("plan\n")
	}
	return keyOf(&b, q.Tables)
}

// keyOf hashes a text and tables behind it, whatever the order of their rows.
func keyOf(b *strings.Builder, tables []Table) string {
	for i := range tables {
		fmt.Fprintf(b, "%q\n", tables[i].Name)
		rows := RowTexts(tables[i].Rows)
		slices.Sort(rows)
		for _, row := range rows {
			b.WriteString(row + "\n")
		}
	}
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:12])
}

// Answer is what the server said to a question.
type Answer struct {
	Result Result `json:"result"`
	// After holds the question's tables as they were behind the statement.
	After []Table `json:"after,omitempty"`
	// Open says why this settles nothing: with another order of the rows, or without
	// indexes, the server answered otherwise, or the rows could not be laid out.
	Open string `json:"open,omitempty"`
}
