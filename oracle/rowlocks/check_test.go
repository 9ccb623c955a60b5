package rowlocks

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const (
	twoTables = "CREATE TABLE t (a INT PRIMARY KEY, b INT); CREATE TABLE u (a INT PRIMARY KEY, b INT)"
	uniqueB   = "CREATE TABLE t (a INT PRIMARY KEY, b INT UNIQUE)"
	keyless   = "CREATE TABLE t (a INT, b INT)"
	ofTwo     = "CREATE TABLE t (a INT, b INT, PRIMARY KEY (a, b))"
	refers    = "CREATE TABLE u (a INT PRIMARY KEY, b INT); CREATE TABLE t (a INT PRIMARY KEY, b INT, " +
		"FOREIGN KEY (b) REFERENCES u (a))"
	refersB    = "CREATE TABLE u (a INT PRIMARY KEY, b INT); CREATE TABLE t (a INT PRIMARY KEY, b INT REFERENCES u (a))"
	refersRaw  = twoTables + "; ALTER TABLE t ADD FOREIGN KEY (b) REFERENCES u (a)"
	ofTwoTexts = "CREATE TABLE t (a VARCHAR(9), b VARCHAR(9), PRIMARY KEY (a, b))"
	ofText     = "CREATE TABLE t (a VARCHAR(9) PRIMARY KEY, b INT)"
)

// told makes a history of lines
//
//	submit-return answer [waits for tx1] /* tx1 */ statement
//
// in which an answer is ok, the SQLSTATE of an error, a number of rows that were written, or rows such as (1,10)(2,20)
// of the columns a and b; b:(10) are rows of b. A semicolon in a value stands for a comma and a space. A statement
// waits from the next tick on.
func told(t *testing.T, setUp, text string) (*corpus.Case, *history.History) {
	t.Helper()
	var sql strings.Builder
	sql.WriteString("-- dialect: postgres\n")
	for _, s := range strings.Split(setUp, "; ") {
		fmt.Fprintf(&sql, "/* init */ %s;\n", s)
	}
	h := &history.History{}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		head, rest, _ := strings.Cut(line, "/*")
		fmt.Fprintf(&sql, "/*%s;\n", rest)
		f := strings.Fields(head)
		st := history.Stmt{Line: i, Result: history.Result{Matched: -1, Changed: -1, Affected: -1}}
		if _, err := fmt.Sscanf(f[0], "%d-%d", &st.Submit, &st.Return); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		answer(&st.Result, f[1])
		if len(f) > 2 {
			by, err := strconv.Atoi(strings.TrimPrefix(f[4], "tx"))
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			st.Waits = []history.Wait{{Kind: history.RowLock, From: st.Submit + 1, Until: st.Return, Holders: []int{by}}}
		}
		h.Stmts = append(h.Stmts, st)
	}
	c, err := corpus.Parse("case", []byte(sql.String()))
	if err != nil {
		t.Fatal(err)
	}
	inTxn := map[int]bool{}
	for i := range h.Stmts {
		st := &h.Stmts[i]
		st.Session = c.Steps[i].Session
		switch kind := stmt.KindOf(c.Steps[i].Stmt); {
		case kind.Begins():
			inTxn[st.Session] = true
		case kind.Ends():
			inTxn[st.Session] = strings.HasSuffix(corpus.SQL(c.Steps[i].Stmt, corpus.Text), "AND CHAIN")
		}
		st.Result.InTxn = inTxn[st.Session] && st.Result.Err == nil
	}
	return c, h
}

var row = regexp.MustCompile(`\(([^)]*)\)`)

func answer(r *history.Result, text string) {
	if n, err := strconv.Atoi(text); err == nil && len(text) < 5 {
		r.Affected = int64(n)
		return
	}
	columns := []string{"a", "b"}
	if of, rows, named := strings.Cut(text, ":"); named {
		columns, text = strings.Split(of, ","), rows
	}
	found := row.FindAllStringSubmatch(text, -1)
	if found == nil {
		if text != "ok" {
			r.Err = &history.Error{Code: history.NumberOf(text), State: text}
		}
		return
	}
	r.Columns = columns
	for _, m := range found {
		var cells []history.Cell
		for _, v := range strings.Split(m[1], ",") {
			cells = append(cells, history.Cell{Text: strings.ReplaceAll(v, ";", ", ")})
		}
		r.Rows = append(r.Rows, cells)
	}
}

func TestCheck(t *testing.T) {
	for _, x := range []struct{ name, setUp, history, want string }{
		// Too strong.
		{"two share locks", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			7-8 ok /* tx1 */ COMMIT`, "2 unjustified-wait"},
		{"a share lock and one for a key", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			7-8 ok /* tx1 */ COMMIT`, "2 unjustified-wait"},
		{"two share locks beside what is about no rows", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ NOTIFY c
			5-6 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			7-11 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			9-10 ok /* tx1 */ COMMIT`, "3 unjustified-wait"},
		{"what was locked before COMMIT AND CHAIN", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 ok /* tx1 */ COMMIT AND CHAIN
			7-8 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			9-13 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			11-12 ok /* tx1 */ COMMIT`, "4 unjustified-wait"},
		{"what was locked behind COMMIT AND CHAIN", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ COMMIT AND CHAIN
			5-6 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-11 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			9-10 ok /* tx1 */ COMMIT`, ""},
		{"FOR UPDATE beside a share lock", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"who made a lock stronger", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			7-11 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			9-10 ok /* tx1 */ COMMIT`, ""},
		{"who waits is in the way of who comes later", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-12 1 waits for tx1 /* tx2 */ UPDATE t SET b = 11 WHERE a = 1
			7-13 (1,11) waits for tx2 /* tx3 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			10-11 ok /* tx1 */ COMMIT`, ""},
		{"who comes later is in nobody's way", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-12 (1,10) waits for tx1 /* tx3 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			7-13 1 waits for tx1 /* tx2 */ UPDATE t SET b = 11 WHERE a = 1
			10-11 ok /* tx1 */ COMMIT`, "2 unjustified-wait"},
		{"a plain SELECT", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ UPDATE t SET b = 11 WHERE a = 1
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t
			7-8 ok /* tx1 */ COMMIT`, "2 unjustified-wait"},
		{"a row of another table", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM u WHERE a = 1 FOR UPDATE
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, "2 unjustified-wait"},
		{"a join with the other table", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 a,b,a,b:(1,10,1,10) /* tx1 */ SELECT * FROM u, t WHERE u.a = t.a FOR UPDATE
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a foreign key's check, in the other table", refers, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ INSERT INTO t VALUES (1, 1)
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM u WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a foreign key behind a column", refersB, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ INSERT INTO t VALUES (1, 1)
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM u WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a foreign key that was added", refersRaw, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ INSERT INTO t VALUES (1, 1)
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM u WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"no foreign key's check", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ INSERT INTO t VALUES (1, 1)
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM u WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, "2 unjustified-wait"},
		{"a query with a lock within a write", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ INSERT INTO u SELECT a, b FROM t WHERE a = 1 FOR UPDATE
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"an INSERT of the same key", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ INSERT INTO t VALUES (1, 10)
			5-9 23505 waits for tx1 /* tx2 */ INSERT INTO t VALUES (1, 10)
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"an UPDATE that makes the same key", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ INSERT INTO t VALUES (1, 10)
			5-9 23505 waits for tx1 /* tx2 */ UPDATE t SET a = 1 WHERE a = 2
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"an INSERT of a key that is deleted", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ DELETE FROM t WHERE a = 1
			5-9 1 waits for tx1 /* tx2 */ INSERT INTO t VALUES (1, 10)
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"an INSERT that reads rows with a lock", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM u WHERE a = 1 FOR UPDATE
			5-9 1 waits for tx1 /* tx2 */ INSERT INTO t SELECT * FROM u FOR SHARE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a transaction that has ended", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ UPDATE t SET b = 11 WHERE a = 1
			5-6 ok /* tx1 */ ROLLBACK
			7-10 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE`, "3 unjustified-wait"},
		{"a transaction that ends meanwhile", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ UPDATE t SET b = 11 WHERE a = 1
			5-7 ok /* tx1 */ ROLLBACK
			6-10 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE`, ""},
		{"what was rolled back to a savepoint may still be there", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SAVEPOINT s
			5-6 1 /* tx1 */ UPDATE t SET b = 11 WHERE a = 1
			7-8 ok /* tx1 */ ROLLBACK TO SAVEPOINT s
			9-14 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			12-13 ok /* tx1 */ COMMIT`, ""},
		{"a prepared transaction", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ UPDATE t SET b = 11 WHERE a = 1
			5-6 ok /* tx1 */ PREPARE TRANSACTION 'p'
			7-11 (1,11) waits for tx1 /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			9-10 ok /* tx2 */ COMMIT PREPARED 'p'`, ""},
		{"a prepared transaction that has ended", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ UPDATE t SET b = 11 WHERE a = 1
			5-6 ok /* tx1 */ PREPARE TRANSACTION 'p'
			7-8 ok /* tx2 */ COMMIT PREPARED 'p'
			9-11 (1,11) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE`, "4 unjustified-wait"},
		{"an UPDATE of other columns than the key's", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			5-9 1 waits for tx1 /* tx2 */ UPDATE t SET b = 11 WHERE a = 1
			7-8 ok /* tx1 */ COMMIT`, "2 unjustified-wait"},
		{"an UPDATE of a unique column", uniqueB, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			5-9 1 waits for tx1 /* tx2 */ UPDATE t SET b = 11 WHERE a = 1
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"an index that was added", twoTables + "; CREATE UNIQUE INDEX t_b ON t (b)", `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			5-9 1 waits for tx1 /* tx2 */ UPDATE t SET b = 11 WHERE a = 1
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a write of the other table, which a foreign key may carry over", refers, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			5-9 1 waits for tx1 /* tx2 */ UPDATE u SET b = 11 WHERE a = 1
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a COMMIT that waits", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-8 ok waits for tx2 /* tx1 */ COMMIT`, ""},
		{"a function that may run any statement", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 x:(1) /* tx1 */ SELECT query_to_xml('SELECT * FROM t FOR UPDATE', true, false, '') FROM u
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			7-8 ok /* tx1 */ COMMIT`, ""},

		// Too weak.
		{"two exclusive locks", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE b = 10 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, "2 missing-wait"},
		{"of two rows", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 (2,20) /* tx2 */ SELECT * FROM t WHERE a = 2 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"of two tables", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 (1,10) /* tx2 */ SELECT * FROM u WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"of a table without a key", keyless, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"half of a key", ofTwo, `
			1-2 ok /* tx1 */ BEGIN
			3-4 a:(1) /* tx1 */ SELECT a FROM t WHERE b = 10 FOR UPDATE
			5-6 a:(1) /* tx2 */ SELECT a FROM t WHERE b = 20 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a whole key of two columns", ofTwo, `
			1-2 ok /* tx1 */ BEGIN
			3-4 b,a:(10,1) /* tx1 */ SELECT b, a FROM t WHERE b = 10 FOR UPDATE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, "2 missing-wait"},
		{"another key of two texts", ofTwoTexts, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (x;y,z) /* tx1 */ SELECT * FROM t WHERE b = 'z' FOR UPDATE
			5-6 (x,y;z) /* tx2 */ SELECT * FROM t WHERE a = 'x' FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"the key is not in the answer", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 b:(10) /* tx1 */ SELECT b FROM t WHERE a = 1 FOR UPDATE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"another column by the key's name", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 a:(1) /* tx1 */ SELECT b AS a FROM t WHERE a = 7 FOR UPDATE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"another column by the key's name, in PostgreSQL's words", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 a:(1) /* tx1 */ SELECT b a FROM t WHERE a = 7 FOR NO KEY UPDATE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"share locks", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"FOR KEY SHARE beside FOR NO KEY UPDATE", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR NO KEY UPDATE
			7-8 1 /* tx2 */ UPDATE t SET b = 11 WHERE a = 1
			9-10 ok /* tx1 */ COMMIT`, ""},
		{"FOR KEY SHARE beside FOR UPDATE", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, "2 missing-wait"},
		{"FOR SHARE beside FOR NO KEY UPDATE", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR NO KEY UPDATE NOWAIT
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			7-8 ok /* tx1 */ COMMIT`, "2 missing-wait"},
		{"SKIP LOCKED does not skip", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 (1,10) /* tx2 */ SELECT * FROM t FOR UPDATE SKIP LOCKED
			7-8 ok /* tx1 */ COMMIT`, "2 locked-row-returned"},
		{"what SKIP LOCKED returned is locked", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t FOR UPDATE SKIP LOCKED
			5-6 1 /* tx2 */ DELETE FROM t WHERE a = 1
			7-8 ok /* tx1 */ COMMIT`, "2 missing-wait"},
		{"an UPDATE of the row", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-6 1 /* tx2 */ UPDATE t SET b = 11 WHERE a = 1
			7-8 ok /* tx1 */ COMMIT`, "2 missing-wait"},
		{"an UPDATE that found nothing", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-6 0 /* tx2 */ UPDATE t SET b = 11 WHERE a = 1
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"an UPDATE of perhaps another row", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-6 1 /* tx2 */ UPDATE t SET b = 11 WHERE a = 1 OR b = 20
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"an UPDATE beside FOR KEY SHARE", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			5-6 1 /* tx2 */ UPDATE t SET b = 11 WHERE a = 1
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a DELETE beside FOR KEY SHARE", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			5-6 1 /* tx2 */ DELETE FROM t WHERE a = 1
			7-8 ok /* tx1 */ COMMIT`, "2 missing-wait"},
		{"a key that is text", ofText, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = '1' FOR SHARE
			5-6 1 /* tx2 */ DELETE FROM t WHERE a = '1'
			7-8 (1,10) /* tx2 */ DELETE FROM t RETURNING *
			9-10 ok /* tx1 */ COMMIT`, "3 missing-wait"},
		{"UPDATE … RETURNING", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-6 b,a:(11,1) /* tx2 */ UPDATE t SET b = b + 1 WHERE b = 10 RETURNING b, a
			7-8 ok /* tx1 */ COMMIT`, "2 missing-wait"},
		{"UPDATE … RETURNING of a key that it sets", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-6 (1,20) /* tx2 */ UPDATE t SET b = 20, a = 1 WHERE b = 20 RETURNING *
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"DELETE … RETURNING of an expression", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			5-6 a:(1) /* tx2 */ DELETE FROM t WHERE b = 20 RETURNING a - 1 AS a
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a row that a write has locked", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ UPDATE t SET b = 11 WHERE a = 1
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR SHARE
			7-8 ok /* tx1 */ COMMIT`, "2 missing-wait"},
		{"a write beside FOR KEY SHARE", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ UPDATE t SET b = 11 WHERE a = 1
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"behind the end of the transaction", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 ok /* tx1 */ COMMIT
			7-8 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE`, ""},
		{"a wait until the end of the transaction", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-9 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a wait that ends early", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-7 (1,10) waits for tx1 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			8-9 ok /* tx1 */ COMMIT`, "2 missing-wait"},
		{"outside of a transaction", twoTables, `
			1-2 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			3-4 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE`, ""},
		{"an error ends the transaction", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 22012 /* tx1 */ SELECT b / 0 FROM t
			7-8 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			9-10 ok /* tx1 */ ROLLBACK`, ""},
		{"two that waited for a third have the row both", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx2 */ BEGIN
			5-6 ok /* tx3 */ BEGIN
			7-8 (1,10) /* tx3 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			9-14 (1,10) waits for tx3 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			10-16 (1,10) waits for tx3 /* tx1 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			12-13 ok /* tx3 */ ROLLBACK
			17-18 ok /* tx1 */ COMMIT
			19-20 ok /* tx2 */ COMMIT`, "5 missing-wait"},
		{"one of two that waited for a third gives the row to the other", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx2 */ BEGIN
			5-6 ok /* tx3 */ BEGIN
			7-8 (1,10) /* tx3 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			9-14 (1,10) waits for tx3 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			10-18 (1,10) waits for tx3 /* tx1 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			12-13 ok /* tx3 */ ROLLBACK
			16-17 ok /* tx2 */ COMMIT
			19-20 ok /* tx1 */ COMMIT`, ""},
		{"a statement of its own gives the row to the other", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			5-6 ok /* tx3 */ BEGIN
			7-8 (1,10) /* tx3 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			9-16 (1,10) waits for tx3 /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			10-15 (1,10) waits for tx3 /* tx1 */ SELECT * FROM t WHERE a = 1 FOR KEY SHARE
			12-13 ok /* tx3 */ ROLLBACK
			19-20 ok /* tx1 */ COMMIT`, ""},
		{"an error behind a savepoint ends what is behind it", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 ok /* tx1 */ SAVEPOINT s
			7-8 (2,20) /* tx1 */ SELECT * FROM t WHERE a = 2 FOR UPDATE
			9-10 22012 /* tx1 */ SELECT b / 0 FROM t
			11-12 (2,20) /* tx2 */ SELECT * FROM t WHERE a = 2 FOR UPDATE
			13-14 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			15-16 ok /* tx1 */ ROLLBACK`, "6 missing-wait"},
		{"a savepoint gives back what was locked behind it", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SAVEPOINT s
			5-6 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ ROLLBACK TO SAVEPOINT s
			9-10 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			11-12 ok /* tx1 */ COMMIT`, ""},
		{"a savepoint that is released gives back nothing", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 ok /* tx1 */ SAVEPOINT r
			5-6 ok /* tx1 */ SAVEPOINT s
			7-8 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			9-10 ok /* tx1 */ RELEASE SAVEPOINT s
			11-12 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			13-14 ok /* tx1 */ COMMIT`, "5 missing-wait"},
		{"a prepared transaction holds its locks, also against its session", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 ok /* tx1 */ PREPARE TRANSACTION 'p'
			7-8 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			9-10 ok /* tx2 */ COMMIT PREPARED 'p'`, "3 missing-wait"},
		{"behind the end of a prepared transaction", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 ok /* tx1 */ PREPARE TRANSACTION 'p'
			7-8 ok /* tx2 */ ROLLBACK PREPARED 'p'
			9-10 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE`, ""},
		{"PREPARE of a transaction that has failed rolls it back", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 ok /* tx1 */ SAVEPOINT s
			7-8 22012 /* tx1 */ SELECT b / 0 FROM t
			9-10 ok /* tx1 */ PREPARE TRANSACTION 'p'
			11-12 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE`, ""},
		{"the transaction's own locks", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 1 /* tx1 */ UPDATE t SET b = 11 WHERE a = 1
			7-8 (1,11) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			9-10 ok /* tx1 */ COMMIT`, ""},
		{"a row that the transaction may have made itself", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 1 /* tx1 */ INSERT INTO t VALUES (1, 10)
			5-6 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 (1,20) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			9-10 ok /* tx1 */ COMMIT`, ""},
		{"who was first does not matter if both were under way", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-7 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-8 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			9-10 ok /* tx1 */ COMMIT`, ""},
		{"a join", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT t.a, t.b FROM t, u WHERE t.a = u.a FOR UPDATE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a query within", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a IN (SELECT a FROM u) FOR UPDATE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a view", twoTables + "; CREATE VIEW v AS SELECT * FROM t", `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			7-8 ok /* tx1 */ COMMIT`, ""},
		{"a session that ends", twoTables, `
			1-2 ok /* tx1 */ BEGIN
			3-4 (1,10) /* tx1 */ SELECT * FROM t WHERE a = 1 FOR UPDATE
			5-6 ok /* tx1 */ disconnect
			7-8 (1,10) /* tx2 */ SELECT * FROM t WHERE a = 1 FOR UPDATE`, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			c, h := told(t, x.setUp, x.history)
			got := ""
			if d := Check(c, h); d != nil {
				got = fmt.Sprint(d.Stmt, " ", d.Kind)
			}
			if got != x.want {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}
