package postgres

import (
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
	if len(words) < 8 || words[0] != "merge" || !slices.Equal(words[3:7], []string{"using", "(", "values", "("}) ||
		strings.Contains(raw.SQL, `"`) {
		return false
	}
	// top are the words outside of parentheses, rows how many rows stand within those of VALUES.
	var top []string
	depth, rows := 0, 0
	for _, w := range words {
		switch {
		case w == "(":
			if depth++; depth == 2 && len(top) == 4 {
				rows++
			}
		case w == ")":
			depth--
		case depth == 0:
			top = append(top, w)
		}
	}
	matched := slices.Index(top, "when")
	if rows != 1 || len(top) < 7 || top[4] != "as" || top[6] != "on" || matched < 0 {
		return false
	}
	actions := strings.Join(top[matched:], " ")
	return strings.HasPrefix(actions, "when matched then update set ") &&
		strings.HasSuffix(actions, " when not matched then insert values") && strings.Count(actions, "when") == 2 &&
		!slices.Contains(top[matched:], "and")
}

// upsertsOne says that a statement is an INSERT of one row of values that changes the row in its way:
//
//	INSERT INTO t VALUES (…) ON CONFLICT (…) DO UPDATE SET …
//
// It goes by the newest rows, whether its snapshot shows them or not.
// https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED
func upsertsOne(raw *stmt.RawStmt) bool {
	words := raw.Words()
	if len(words) < 3 || words[0] != "insert" || strings.Contains(raw.SQL, `"`) {
		return false
	}
	var top []string
	depth, rows := 0, 0
	for _, w := range words {
		switch {
		case w == "(":
			if depth++; depth == 1 && len(top) > 0 && slices.Contains(top, "values") && !slices.Contains(top, "on") {
				rows++
			}
		case w == ")":
			depth--
		case depth == 0:
			top = append(top, w)
		}
	}
	return rows == 1 && strings.HasPrefix(strings.Join(top[3:], " "), "values on conflict do update set ")
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
