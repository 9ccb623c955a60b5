package solve

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Which writes of several tables the server is asked about: those whose answer is that
// of each row, whatever the plan.
func TestSeveral(t *testing.T) {
	d := DialectOf(history.Server{DBMS: history.MySQL})
	table := func(sql string) Found {
		def, _, err := ReadTable(sql, d)
		if err != nil {
			t.Fatal(err)
		}
		row, err := def.ParseRow([]history.Cell{{Text: "1"}, {Text: "2"}})
		if err != nil {
			t.Fatal(err)
		}
		return Found{def, []Row{row, row}}
	}
	on := []Found{table("CREATE TABLE t (a INT, b INT)"), table("CREATE TABLE u (a INT, c INT)")}
	for sql, asked := range map[string]bool{
		"UPDATE t JOIN u ON t.a = u.a SET b = c":                              true,
		"UPDATE t x JOIN u y USING (a) SET x.b = 1, x.a = 2":                  true,
		"UPDATE t, u SET b = b + 1, c = 2 WHERE t.a = u.a":                    true,
		"UPDATE t LEFT JOIN u ON t.a = u.a SET b = 1 WHERE u.a IS NULL":       true,
		"DELETE t FROM t LEFT JOIN u ON t.a = u.a WHERE c > 1":                true,
		"DELETE FROM x, u USING t AS x JOIN u ON x.a = u.a":                   true,
		"UPDATE t JOIN u SET a = 1":                                           false, // whose?
		"UPDATE t JOIN u SET b = 1, b = 2":                                    false,
		"UPDATE t JOIN u SET b = c, t.a = b":                                  false, // which b
		"UPDATE t, u SET b = 1, c = 2 WHERE b = 2":                            false, // one row's b may be 1 when the next row is joined
		"UPDATE t JOIN u USING (a) SET b = 1, c = 2":                          false,
		"UPDATE t LEFT JOIN u ON t.a = u.a SET b = c":                         false,
		"UPDATE t JOIN t AS s SET s.b = 1":                                    false,
		"UPDATE t JOIN (SELECT * FROM u) AS s SET t.b = 1":                    false,
		"UPDATE t JOIN u SET b = 1 WHERE t.a = (SELECT MAX(a) FROM u)":        false,
		"UPDATE IGNORE t JOIN u SET b = 1":                                    false,
		"UPDATE t JOIN u SET b = RAND()":                                      false,
		"DELETE IGNORE t FROM t JOIN u ON t.a = u.a":                          false,
		"DELETE t FROM t JOIN u ON t.a = u.a WHERE t.a < CONNECTION_ID() + 1": false,
	} {
		stmt, err := corpus.ParseStatement(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		a := NewAsking(nil)
		if _, err := New(d).Asking(a).WriteSeveral(stmt, on); err == nil {
			t.Errorf("%s: done without an answer", sql)
		}
		if got := len(a.Questions()) > 0; got != asked {
			t.Errorf("%s: asked %v", sql, got)
		}
	}
}

// Rows of another table that give one row different values settle nothing; nor does a
// server that cannot tell.
func TestSeveralAgree(t *testing.T) {
	d := DialectOf(history.Server{DBMS: history.MySQL})
	def := func(sql string) *Table {
		def, _, err := ReadTable(sql, d)
		if err != nil {
			t.Fatal(err)
		}
		return def
	}
	row := func(def *Table, a, b string) Row {
		r, err := def.ParseRow([]history.Cell{{Text: a}, {Text: b}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	tt, u := def("CREATE TABLE t (a INT, b INT)"), def("CREATE TABLE u (a INT, c INT)")
	stmt, err := corpus.ParseStatement("UPDATE t JOIN u ON t.a = u.a SET b = c")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		second  string
		matched bool
		open    string
		whole   string
		ok      bool
	}{
		{"7", true, "", "7", true},
		{"8", true, "", "7", false},
		{"8", false, "", "7", true},
		{"8", false, "", "8", false},
		{"7", true, "it depends", "7", false},
	} {
		on := []Found{{tt, []Row{row(tt, "1", "2")}}, {u, []Row{row(u, "1", "7"), row(u, "1", x.second)}}}
		on[1].Rows[1][0] = row(u, "3", "0")[0]
		answers := map[string]*history.Answer{}
		ask := func() ([]Chosen, error) {
			a := NewAsking(answers)
			got, err := New(d).Asking(a).WriteSeveral(stmt, on)
			for k, q := range a.Questions() {
				gives, matched, open := q.Tables[1].Rows[0][1], true, ""
				if len(q.Tables[1].Rows) > 1 {
					gives = history.Cell{Text: x.whole}
				} else if q.Tables[1].Rows[0][0].Text == "3" {
					matched, open = x.matched, x.open
				}
				left := q.Tables[0].Rows[0]
				n := int64(0)
				if matched {
					left, n = []history.Cell{left[0], gives}, 1
				}
				answers[k] = &history.Answer{Result: history.Result{Matched: n, Changed: n}, Open: open,
					After: []history.Table{{Name: "t", Rows: [][]history.Cell{left}}, q.Tables[1]}}
			}
			return got, err
		}
		if _, err := ask(); err == nil || len(answers) != 3 {
			t.Fatalf("%d questions, error %v", len(answers), err)
		}
		got, err := ask()
		if (err == nil) != x.ok || x.ok && (len(got) != 1 || got[0].In != 0 || !got[0].Changed || got[0].Row.Cells()[1].Text != "7") {
			t.Errorf("%+v: %v, %v", x, got, err)
		}
	}
}
