package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/solve"
	"github.com/txnfuzz/txnfuzz/oracle/versions"
)

// mergesOne says that a statement is a MERGE of one row of values that changes the rows of its table which match, or
// inserts it where none does:
//
//	MERGE INTO t USING (VALUES (…)) AS s (…) ON … WHEN MATCHED THEN UPDATE SET … WHEN NOT MATCHED THEN INSERT VALUES (…)
//
// Of a row that it found and that has been changed meanwhile it looks at the newest version; if that does not match any
// more, or is gone, it takes the row as not matched.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
func mergesOne(raw *stmt.RawStmt) bool {
	words := raw.Words()
	top := folded(words)
	matched := slices.Index(top, "when")
	if len(top) < 9 || matched < 0 || top[0] != "merge" || top[3] != "using" || words[5] != "values" || strings.Contains(raw.SQL, `"`) {
		return false
	}
	actions := strings.Join(top[matched:len(top)-1], " ")
	return top[4] == "(1)" && top[5] == "as" && top[8] == "on" && // one row, and the names of its columns
		strings.HasPrefix(actions, "when matched then update set ") &&
		strings.HasSuffix(actions, " when not matched then insert values") && strings.Count(actions, "when") == 2 &&
		!slices.Contains(top[matched:], "and")
}

// folded are the words of a statement with each pair of parentheses as one word, which tells how many pairs stand right
// within it.
func folded(words []string) (top []string) {
	depth, within := 0, 0
	for _, w := range words {
		switch {
		case w == "(":
			if depth++; depth == 1 {
				within = 0
			} else if depth == 2 {
				within++
			}
		case w == ")":
			if depth--; depth == 0 {
				top = append(top, fmt.Sprintf("(%d)", within))
			}
		case depth == 0:
			top = append(top, w)
		}
	}
	return top
}

// upsertsOne says that a statement is an INSERT of one row of values that changes the row in its way:
//
//	INSERT INTO t VALUES (…) ON CONFLICT (…) DO UPDATE SET …
//
// It goes by the newest rows, whether its snapshot shows them or not.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
func upsertsOne(raw *stmt.RawStmt) bool {
	top := folded(raw.Words())
	at := slices.Index(top, "values")
	if at < 0 || len(top) < at+9 || top[0] != "insert" || strings.Contains(raw.SQL, `"`) {
		return false
	}
	isRow := func(w string) bool { return strings.HasPrefix(w, "(") }
	return isRow(top[at+1]) && isRow(top[at+4]) && slices.Equal(top[at+2:at+4], []string{"on", "conflict"}) &&
		slices.Equal(top[at+5:at+8], []string{"do", "update", "set"})
}

// upsertMode is the mode in which an upsert locks the row that it meets: the strongest where it sets a column of a key.
func (w *world) upsertMode(run *running) versions.Mode {
	words := run.node.(*stmt.RawStmt).Words()
	words = words[slices.Index(words, "do"):]
	if slices.ContainsFunc(run.table.Def.Keys, func(k solve.Key) bool {
		var columns []string
		for _, c := range k.Columns {
			columns = append(columns, strings.ToLower(run.table.Def.Columns[c].Name))
		}
		return (k.Unique || k.Primary) && stmt.Assigns(words, columns)
	}) {
		return versions.Exclusive
	}
	return versions.NoKeyExclusive
}

// unmatched has a MERGE insert its row in place of one that it had found, and that does not match any more.
func (w *world) unmatched(run *running) error {
	if !run.merges {
		return nil
	}
	return w.findInserted(run)
}
