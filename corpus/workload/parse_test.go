package workload

import (
	"strings"
	"testing"
)

// TestErrors holds what a workload cannot be, and where the error is.
func TestErrors(t *testing.T) {
	const schema = "/* schema */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n"
	for text, want := range map[string]string{
		"":          "1:1: no table",
		schema:      "2:1: no transaction",
		"SELECT 1;": "1:1: want /* schema */, /* transaction NAME */ or /* invariant NAME */ before",
		schema + "/* transaction t () */ UPDATE t SET b = :c;":                                              "2:24: nothing gives :c a value",
		schema + "/* transaction t (:c INT 5..1) */ UPDATE t SET b = :c;":                                   "2:25: this range is empty",
		schema + "/* transaction t (:c WORD) */ UPDATE t SET b = :c;":                                       "2:22: want a type",
		schema + "/* transaction t (:c t.z) */ UPDATE t SET b = :c;":                                        "2:1: table t has no column z",
		schema + "/* transaction t (:c INT, :c INT) */ UPDATE t SET b = :c;":                                "2:27: there are two parameters",
		schema + "/* transaction t (:c INT) retyr 3 */ UPDATE t SET b = :c;":                                "did you mean \"retry\"",
		schema + "/* transaction t () */ UPDATE u SET b = 1;":                                               "2:24: there is no table u",
		schema + "/* transaction t () */ UPDATE t SET b = 1":                                                "2:24: this statement has no semicolon",
		schema + "/* transaction t () */\nUPDATE t SET b = = 1;":                                            "3:18: syntax error",
		schema + "/* transaction t () */ COMMIT;":                                                           "2:24: BEGIN and COMMIT come by themselves",
		schema + "/* transaction t () */ DROP TABLE t;":                                                     "2:24: a transaction holds",
		schema + "/* transaction t () */ UPDATE t SET b = RAND();":                                          "RAND() gives another value each time",
		schema + "/* transaction t () */ UPDATE t SET b = @x;":                                              "2:41: variables of a workload are written :name",
		schema + "/* transaction t () */ SELECT a, b FROM t INTO :x;":                                       "2:24: the SELECT has 2 columns, INTO has 1",
		schema + "/* transaction t () */ /* unless 1 > 0 rollback */":                                       "want /* unless CONDITION: rollback */",
		schema + "/* transaction t () */ /* unless 1 > 0: rolback */":                                       "did you mean \"rollback\"",
		schema + "/* sample t.a */ 1, two;":                                                                 "2:21: want a value such as 1, -2.50, 'text' or NULL, found \"two\"",
		schema + "/* transaction t () */ /* unless a > 0: rollback */ SELECT 1;":                            "2:34: a condition is evaluated by the client",
		schema + "/* transaction t () */ /* unless 1 > > 0: rollback */":                                    "2:38: syntax error",
		schema + "/* transaction t () */ /* repeat */ SELECT 1; /* end */":                                  "there is none",
		schema + "/* transaction t () */ SELECT a FROM t INTO :x; /* repeat */ SELECT :x;":                  "has no /* end */",
		schema + "/* transaction t () */ SELECT 1; /* end */":                                               "this /* end */ has no /* repeat */",
		schema + "/* transaction t () */ SELECT 1; /* invariant i */ UPDATE t SET b = 1;":                   "an invariant is a SELECT",
		schema + "/* transaction t () */ SELECT 1; /* invariant i allways */ SELECT 1;":                     "want nothing, constant or one of",
		schema + "/* transaction t () */ SELECT 1; /* invariant i */ SELECT 1; /* invariant i */ SELECT 1;": "there are two invariants i",
		schema + "/* sample t.z */ 1; /* transaction t () */ SELECT 1;":                                     "table t has no column z",
		schema + "/* sample t.b */ a; /* transaction t () */ SELECT 1;":                                     "2:18: want a value",
		schema + "/* sample t.b */ 1 weight 0; /* transaction t () */ SELECT 1;":                            "want a weight",
		schema + "/* rows t 5..2 */ /* transaction t () */ SELECT 1;":                                       "the smaller number first",
		schema + "/* transaction t () */ SELECT a FROM t INTO :x; /* if :x > 1 */ SELECT 1;":                "2:49: there is no directive \"if :x > 1\" (did you mean \"unless\"?); want one of schema, rows, sample, transaction, unless, repeat, end, invariant",
		schema + "/* transaction t () */ SELECT 1; /* foreach */ SELECT 1;":                                 "2:34: there is no directive \"foreach\" (did you mean \"repeat\"?)",
		schema + "/* transaction t () */ SELECT 1; /* unles 1 > 0: skip */ SELECT 1;":                       "(did you mean \"unless\"?)",
		schema + "/* a note */ /* transaction t () */ SELECT 1;":                                            "2:1: there is no directive \"a note\"; want one of",
		schema + "/* transction t () */ SELECT 1;":                                                          "did you mean \"transaction\"",
	} {
		_, err := Parse("w.workload", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestTables holds what the schema is understood to be.
func TestTables(t *testing.T) {
	w, err := Parse("w.workload", []byte(`/* schema */
CREATE TABLE p (a INT, b VARCHAR(5), PRIMARY KEY (a), UNIQUE (b));
CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, p INT NOT NULL CHECK (p > 0), FOREIGN KEY (p) REFERENCES p (a));
/* transaction t (:x p.a) */ SELECT b FROM p WHERE a = :x INTO :from; /* unless :from = 'x': skip */ DELETE FROM p WHERE a = :x;`))
	if err != nil {
		t.Fatal(err)
	}
	c := w.Table("C")
	if len(w.Table("p").Unique) != 2 || len(c.Foreign) != 1 || c.Foreign[0].Ref != "p" || !c.Columns[0].Auto || c.Columns[1].Nullable || len(c.Checks) != 1 {
		t.Errorf("%+v", c)
	}
	var names []string
	for _, v := range Implied(w) {
		names = append(names, v.Name)
	}
	if got, want := strings.Join(names, " "), "key-p-a key-p-b key-c-id check-c-1 foreign-key-c-p"; got != want {
		t.Errorf("implied %q, want %q", got, want)
	}
	if got, want := w.Transactions[0].Body[0].SQL(), "SELECT b FROM p WHERE a = :x INTO :from"; got != want {
		t.Errorf("printed %q", got)
	}
}

// TestParseInvariant: what an invariant prints is read again.
func TestParseInvariant(t *testing.T) {
	texts := []string{"a one of 'x: y', -1, NULL: SELECT ':' FROM t", "a constant: SELECT COUNT(1) FROM t"}
	for name, text := range examples(t) {
		w, err := Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range append(Implied(w), w.Invariants...) {
			texts = append(texts, v.String())
		}
	}
	for _, text := range texts {
		if v, err := ParseInvariant(text); err != nil || v.String() != text {
			t.Errorf("%s\nis read as %v, %v", text, v, err)
		}
	}
	for _, text := range []string{"", "a", "a: ", "a: UPDATE", "a: UPDATE t SET b = 1", "a: SELECT 1; SELECT 2", ": SELECT 1", "a weekly: SELECT 1"} {
		if v, err := ParseInvariant(text); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}
