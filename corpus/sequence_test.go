package corpus

import (
	"strings"
	"testing"
)

func TestSequences(t *testing.T) {
	for text, want := range map[string]string{
		"/* init */ create /* it */ sequence\n S": "CREATE SEQUENCE s",
		"/* init */ CREATE SEQUENCE s CACHE 5":    "CREATE SEQUENCE s CACHE 5",
		"/* tx1 */ select NextVal( 's' )":         "SELECT nextval('s')",
		"/* tx1 */ SELECT currval('s') -- of it":  "SELECT currval('s')",
		"/* tx1 */ SELECT lastval ( )":            "SELECT lastval()",
	} {
		c := parseCase(t, text+"\n;\n/* tx1 */ COMMIT;\n")
		first := append(c.Init, c.Steps...)[0].Stmt
		if got := SQL(first, Text); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
		if again := parseCase(t, string(Print(c, Text))); !c.Equal(again) || !c.Clone().Equal(c) {
			t.Errorf("%s: read back, it is\n%s", text, Print(again, Text))
		}
		if got, err := Format(first, PostgreSQL); err != nil || got != want {
			t.Errorf("%s: for PostgreSQL it is %s (%v)", text, got, err)
		}
	}
}

func TestSequenceErrors(t *testing.T) {
	for text, want := range map[string]string{
		"/* tx1 */ CREATE SEQUENCE s":        "a session cannot make a sequence: CREATE SEQUENCE stands behind /* init */",
		"/* init */ CREATE SEQUENCE table":   "table is a reserved word, and no name of a sequence",
		"/* init */ SELECT nextval('s')":     "the set-up has no sessions: sequence stands behind /* tx1 */",
		"/* tx1 */ SELECT nextval('select')": "select is a reserved word, and no name of a sequence",
	} {
		_, err := Parse("x", []byte(text+";\n/* tx1 */ COMMIT;\n"))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
