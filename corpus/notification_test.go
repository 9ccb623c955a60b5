package corpus

import (
	"strings"
	"testing"
)

func TestNotifications(t *testing.T) {
	for text, want := range map[string]string{
		"listen /* it */\n C":             "LISTEN c",
		"UNLISTEN c -- no more":           "UNLISTEN c",
		"unlisten *":                      "UNLISTEN *",
		"Notify c":                        "NOTIFY c",
		"NOTIFY c , 'some text: 1.5'":     "NOTIFY c, 'some text: 1.5'",
		"NOTIFY c,''":                     "NOTIFY c",
		"select PG_Notify( 'c' ,'x')":     "SELECT pg_notify('c', 'x')",
		"SELECT pg_notify('c', '')":       "SELECT pg_notify('c', '')",
		"SELECT a FROM t WHERE a = 'x y'": "SELECT a FROM t WHERE a = 'x y'",
	} {
		c := parseCase(t, twoSessions+"/* tx1 */ "+text+"\n;")
		if got := SQL(c.Steps[1].Stmt, Text); got != want && strings.ReplaceAll(got, "=", " = ") != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
		if again := parseCase(t, string(Print(c, Text))); !c.Equal(again) || !c.Clone().Equal(c) {
			t.Errorf("%s: read back, it is\n%s", text, Print(again, Text))
		}
		if got, err := Format(c.Steps[1].Stmt, PostgreSQL); err != nil || !strings.Contains(want, "FROM") && got != want {
			t.Errorf("%s: for PostgreSQL it is %s (%v)", text, got, err)
		}
	}
}

func TestNotificationErrors(t *testing.T) {
	const (
		form    = "want LISTEN c, UNLISTEN c, UNLISTEN *, NOTIFY c, or NOTIFY c, 'text'"
		channel = "the name of a channel is up to 30 small letters, digits and _, without quotes, and no reserved word"
		payload = "the text of a notification is up to 40 letters, digits, blanks and any of _.:-"
	)
	for text, want := range map[string]string{
		"/* tx1 */ LISTEN":                            form,
		"/* tx1 */ LISTEN *":                          channel,
		"/* tx1 */ LISTEN c, 'x'":                     form,
		"/* tx1 */ LISTEN \"c\"":                      channel,
		"/* tx1 */ LISTEN select":                     channel,
		"/* tx1 */ NOTIFY c 'x'":                      form,
		"/* tx1 */ NOTIFY c, x":                       form,
		"/* tx1 */ NOTIFY c, 'é'":                     payload,
		"/* tx1 */ SELECT pg_notify('C', 'x')":        channel,
		"/* init */ LISTEN c":                         "the set-up has no sessions: LISTEN stands behind /* tx1 */",
		"/* tx1 */ NOTIFY " + strings.Repeat("x", 31): channel,
	} {
		_, err := Parse("x", []byte(text+";\n/* tx1 */ COMMIT;\n"))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
