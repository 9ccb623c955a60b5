package oracle

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// TestScripts judges histories that are written down by hand, one rule at a time:
// the folder innodb for MySQL and MariaDB, tidb for TiDB. A line is a session, a
// statement and, behind a bar, its answer:
//
//	tx1 UPDATE t SET a = 1 | 2/1        matched/changed
//	tx1 DELETE FROM t | 3               affected
//	tx1 SELECT * FROM t | (1,2) (3,)    rows; an empty cell is NULL
//	tx1 SELECT * FROM t |               no rows
//	tx1 SELECT * FROM t | (1) in-txn    the server says that it is in a transaction
//	tx2 UPDATE t SET a = 2 | waits      the answer comes later:
//	tx2 | 1/1
//	tx2 | error 1213
//	tx2 | error 1105 tikv aborts txn    what the message says matters
//	tx2 KILL QUERY tx1 | ended          tx1 did nothing, and its connection is closed
//	final (1,2)
//
// A line that begins with ">" is EXPLAIN's line for the statement above it. Behind a
// colon "table", "rows" and "final" name a table other than t: "rows:u (1)".
//
// A block with rule=NAME belongs to that deviation, or to the promise that has the name
// in promiseNames; so does one of a known verdict to its deviation.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "judge" {
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			c, h := readScript(t, d)
			v := CheckAndCount(c, h)
			out := string(v.Outcome)
			if len(v.Rules) > 0 {
				out += " " + strings.Join(v.Rules, "+")
			}
			if v.Outcome == Unknown {
				return fmt.Sprintf("%s (%s)\n", out, v.Reason)
			}
			if v.Outcome == OK {
				return fmt.Sprintf("%s, judged %d of %d\n", out, v.Judged, v.Statements)
			}
			out += fmt.Sprintf(" (%s)\n", v.Kind)
			if v.Stmt >= 0 {
				out += fmt.Sprintf("tx%d: ", h.Stmts[v.Stmt].Session)
			}
			return out + fmt.Sprintf("expected %s, actual %s\n", v.Expected, v.Actual)
		})
	})
}

var scriptServers = map[string]history.Server{
	"mysql":      {DBMS: history.MySQL, Version: "9.7.4", Settings: map[string]string{"log_bin": "OFF", "binlog_format": "ROW"}},
	"mysql-row":  {DBMS: history.MySQL, Version: "9.7.4", Settings: map[string]string{"log_bin": "ON", "binlog_format": "ROW"}},
	"mariadb":    {DBMS: history.MariaDB, Version: "10.11.19-MariaDB", Settings: map[string]string{"innodb_snapshot_isolation": "OFF"}},
	"mariadb-si": {DBMS: history.MariaDB, Version: "11.8.9-MariaDB", Settings: map[string]string{"innodb_snapshot_isolation": "ON"}},
	// It has no innodb_snapshot_isolation yet.
	"mariadb-old": {DBMS: history.MariaDB, Version: "10.5.23-MariaDB", Settings: map[string]string{"log_bin": "OFF"}},
	"tidb":        {DBMS: history.TiDB, Version: "8.0.11-TiDB-None", Settings: map[string]string{"store": "unistore", "tidb_enable_noop_functions": "OFF"}},
	"tidb-8.5": {DBMS: history.TiDB, Version: "8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af",
		Settings: map[string]string{"store": "unistore", "tidb_enable_noop_functions": "OFF"}},
}

func readScript(t *testing.T, d *datadriven.TestData) (*corpus.Case, *history.History) {
	t.Helper()
	var server, level string
	d.ScanArgs(t, "server", &server)
	d.ScanArgs(t, "level", &level)
	srv, ok := scriptServers[server]
	if !ok {
		d.Fatalf(t, "unknown server %q", server)
	}
	l, err := corpus.ParseLevel(level)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	h := &history.History{Server: srv, Levels: map[int]corpus.Level{}, Plans: map[int]string{}}
	var text strings.Builder
	tick := history.Tick(0)
	next := func() history.Tick { tick++; return tick }
	inTxn, open := map[int]bool{}, map[int]int{}
	columns := map[string][]string{}
	line := 0
	for _, s := range strings.Split(d.Input, "\n") {
		who, rest, _ := strings.Cut(s, " ")
		word, table, named := strings.Cut(who, ":")
		if !named {
			table = "t"
		}
		switch word {
		case "table":
			fmt.Fprintf(&text, "/* init */ CREATE TABLE %s (%s);\n", table, rest)
			for _, def := range strings.Split(rest, ", ") {
				if name, typ, _ := strings.Cut(def, " "); name != strings.ToUpper(name) && typ != "" {
					columns[table] = append(columns[table], name)
				}
			}
		case "rows":
			h.Initial = append(h.Initial, history.Table{Name: table, Columns: columns[table], Rows: scriptRows(t, d, rest)})
		case "final":
			h.Final = append(h.Final, history.Table{Name: table, Columns: columns[table], Rows: scriptRows(t, d, rest)})
		case ">":
			i := len(h.Stmts) - 1
			h.Plans[i] = "table\ttype\tkey\tExtra\n" + strings.ReplaceAll(rest, " | ", "\t")
		default:
			n, err := strconv.Atoi(strings.TrimPrefix(who, "tx"))
			if err != nil {
				d.Fatalf(t, "line %q", s)
			}
			sql, answer, _ := strings.Cut(rest, "|")
			sql, answer = strings.TrimSpace(sql), strings.TrimSpace(answer)
			i, waiting := open[n]
			if sql != "" {
				fmt.Fprintf(&text, "/* tx%d */ %s;\n", n, sql)
				i = len(h.Stmts)
				h.Levels[n] = l
				h.Stmts = append(h.Stmts, history.Stmt{Line: line, Session: n, Submit: next(), InTxn: inTxn[n]})
				line++
				switch {
				case strings.HasPrefix(sql, "BEGIN"), strings.HasPrefix(sql, "START"):
					inTxn[n] = true
				case sql == "COMMIT", sql == "ROLLBACK":
					inTxn[n] = false
				}
			}
			st := &h.Stmts[i]
			if waiting {
				st.Waits[len(st.Waits)-1].Until = next()
				delete(open, n)
			}
			if answer == "waits" {
				st.Waits = append(st.Waits, history.Wait{Kind: history.RowLock, From: next()})
				open[n] = i
				continue
			}
			st.Return = next()
			answer, still := strings.CutSuffix(answer, " in-txn")
			if answer == "ended" {
				answer, st.EndedIdle = "", true
				delete(inTxn, endedSession(t, d, sql))
			}
			st.Result = scriptAnswer(t, d, answer)
			if e := st.Result.Err; e != nil && (e.Code == 1213 || e.Code == 1020) {
				inTxn[n] = false
			}
			inTxn[n] = inTxn[n] || still
			st.Result.InTxn = inTxn[n]
		}
	}
	c, err := corpus.Parse(d.Pos, []byte(text.String()))
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return c, h
}

// endedSession returns the session that a KILL names.
func endedSession(t *testing.T, d *datadriven.TestData, kill string) (n int) {
	if _, err := fmt.Sscanf(kill, "KILL QUERY tx%d", &n); err != nil {
		d.Fatalf(t, "%q ends no session: %v", kill, err)
	}
	return n
}

func scriptAnswer(t *testing.T, d *datadriven.TestData, s string) history.Result {
	r := history.Result{Matched: -1, Changed: -1, Affected: -1}
	if said, ok := strings.CutPrefix(s, "error "); ok {
		number, message, ok := strings.Cut(said, " ")
		code, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			d.Fatalf(t, "answer %q", s)
		}
		if !ok {
			message = "as the script says"
		}
		r.Err = &history.Error{Code: uint16(code), Message: message}
		return r
	}
	if _, err := fmt.Sscanf(s, "%d/%d", &r.Matched, &r.Changed); err == nil {
		r.Affected = r.Changed
		return r
	}
	r.Matched, r.Changed = -1, -1
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		r.Affected = n
		return r
	}
	r.Rows = scriptRows(t, d, s)
	return r
}

func scriptRows(t *testing.T, d *datadriven.TestData, s string) [][]history.Cell {
	var out [][]history.Cell
	for _, f := range strings.Fields(s) {
		if !strings.HasPrefix(f, "(") || !strings.HasSuffix(f, ")") {
			d.Fatalf(t, "row %q", f)
		}
		var row []history.Cell
		for _, v := range strings.Split(f[1:len(f)-1], ",") {
			row = append(row, history.Cell{Text: v, Null: v == ""})
		}
		out = append(out, row)
	}
	return out
}
