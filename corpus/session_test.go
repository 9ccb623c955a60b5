package corpus

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

const twoSessions = "/* init */ CREATE TABLE t (a INT);\n/* tx2 */ BEGIN;\n"

func TestSessionStatements(t *testing.T) {
	for text, want := range map[string]string{
		"kill   query\n tx2":                    "KILL QUERY tx2",
		"KILL tx2":                              "KILL tx2",
		"KILL CONNECTION /* it waits */ tx02":   "KILL tx2",
		"kill tx1":                              "KILL tx1",
		"DISCONNECT":                            "disconnect",
		"connect -- anew\n":                     "connect",
		"SELECT a FROM t WHERE a = 'KILL 5'":    "SELECT a FROM t WHERE a='KILL 5'",
		"SELECT `kill` FROM t":                  "SELECT `kill` FROM t",
		"SELECT a /* KILL 5 */ FROM t # kill 5": "SELECT a FROM t",
	} {
		c := parseCase(t, twoSessions+"/* tx1 */ "+text+"\n;")
		got := SQL(c.Steps[1].Stmt, Text)
		if strings.ReplaceAll(got, " = ", "=") != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
		if again := parseCase(t, string(Print(c, Text))); !c.Equal(again) || !c.Clone().Equal(c) {
			t.Errorf("%s: read back, it is\n%s", text, Print(again, Text))
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestForeignKill holds a case to its own connections.
func TestForeignKill(t *testing.T) {
	const foreign = ": " + wantKill
	for text, want := range map[string]string{
		"/* tx1 */ KILL 5":                                         "x:3:11" + foreign,
		"/* tx1 */ KILL QUERY 5":                                   "x:3:11" + foreign,
		"/* tx1 */ KILL CONNECTION_ID()":                           "x:3:11" + foreign,
		"/* tx1 */ KILL HARD tx2":                                  "x:3:11" + foreign,
		"/* tx1 */ KILL tx2, 5":                                    "x:3:11" + foreign,
		"/* tx1 */ KILL tx2 + 1":                                   "x:3:11" + foreign,
		"/* tx1 */ KILL USER root":                                 "x:3:11" + foreign,
		"/* tx1 */ KILL TIDB 5":                                    "x:3:11" + foreign,
		"/* tx1 */ KILL /*! QUERY */ tx2":                          "x:3:16" + foreign,
		"/* tx1 */ /*!50000 KILL 5 */":                             "x:3:20" + foreign,
		"/* tx1 */ /* raw reads=t */ SELECT 1 FROM t UNION KILL 5": "x:3:51" + foreign,
		"/* tx1 */ /* raw reads=t */ KILL 5":                       "x:3:29" + foreign,
		"/* tx1 */ PREPARE s FROM 'KILL 5'":                        "x:3:27" + foreign,
		"/* tx1 */ SET @s = 'select 1; kill query 5'":              "x:3:31" + foreign,
		"/* tx1 */ CREATE PROCEDURE p() BEGIN KILL 5":              "x:3:38" + foreign,
		"/* tx1 */ KILL tx3":                                       "x:3:11: this case has no session tx3: KILL takes a session of the case",
		"/* tx1 */ KILL tx1000":                                    "x:3:11: session 1000 is not in 1…999",
		"/* tx1 */ disconnect tx2":                                 "x:3:11: nothing stands behind connect and disconnect: they are about the session whose line they are",
	} {
		_, err := Parse("x", []byte(twoSessions+text+";\n"))
		if err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
	for _, text := range []string{"KILL tx1", "disconnect", "connect"} {
		_, err := Parse("x", []byte("/* init */ "+text+";\n/* tx1 */ BEGIN;\n"))
		if err == nil || !strings.Contains(err.Error(), "x:1:1: the set-up has no sessions") {
			t.Errorf("%s in the set-up: %v", text, err)
		}
	}
}

func TestValidateNamesKilledSession(t *testing.T) {
	c := parseCase(t, twoSessions+"/* tx1 */ KILL tx2;")
	c.Steps = c.Steps[1:]
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "the case has no session tx2") {
		t.Errorf("got %v", err)
	}
}

func TestSessionKinds(t *testing.T) {
	for _, k := range []stmt.Kind{stmt.KillQuery, stmt.Kill, stmt.Disconnect, stmt.Connect} {
		if !k.OfSession() || !k.Control() || k.TouchesRows() || k.Commits() || k.Ends() {
			t.Errorf("%s: a statement about a session reads, writes and ends nothing by its kind", k)
		}
	}
}
