package corpus

import (
	"strings"
	"testing"
)

func TestPreparedAndAdvisory(t *testing.T) {
	for text, want := range map[string]string{
		"prepare /* it */ transaction\n 'p_1'":            "PREPARE TRANSACTION 'p_1'",
		"Commit Prepared 'a' -- by another":               "COMMIT PREPARED 'a'",
		"ROLLBACK PREPARED 'a'":                           "ROLLBACK PREPARED 'a'",
		"select PG_Advisory_Lock( -5 )":                   "SELECT pg_advisory_lock(-5)",
		"SELECT pg_try_advisory_xact_lock_shared (1 , 2)": "SELECT pg_try_advisory_xact_lock_shared(1, 2)",
		"SELECT pg_advisory_unlock_all()":                 "SELECT pg_advisory_unlock_all()",
		"SELECT a FROM t WHERE a = 'prepare transaction'": "SELECT a FROM t WHERE a = 'prepare transaction'",
	} {
		c := parseCase(t, twoSessions+"/* tx1 */ "+text+"\n;")
		if got := SQL(c.Steps[1].Stmt, Text); got != want && strings.ReplaceAll(got, "=", " = ") != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
		if again := parseCase(t, string(Print(c, Text))); !c.Equal(again) || !c.Clone().Equal(c) {
			t.Errorf("%s: read back, it is\n%s", text, Print(again, Text))
		}
		if got, err := Format(c.Steps[1].Stmt, PostgreSQL); err != nil || strings.Contains(want, "pg_") && got != want {
			t.Errorf("%s: for PostgreSQL it is %s (%v)", text, got, err)
		}
	}
}

func TestPreparedAndAdvisoryErrors(t *testing.T) {
	const name = "the name of a prepared transaction is up to 40 letters, digits and _ in quotes, as in "
	for text, want := range map[string]string{
		"/* tx1 */ PREPARE TRANSACTION p":                                 name + "PREPARE TRANSACTION 'p1'",
		"/* tx1 */ COMMIT PREPARED 'a-b'":                                 name + "COMMIT PREPARED 'p1'",
		"/* tx1 */ ROLLBACK PREPARED ''''":                                name + "ROLLBACK PREPARED 'p1'",
		"/* tx1 */ PREPARE TRANSACTION '" + strings.Repeat("x", 41) + "'": name + "PREPARE TRANSACTION 'p1'",
		"/* tx1 */ SELECT pg_advisory_lock(a)":                            "the key of an advisory lock is a whole number of 64 bits, or two of 32",
		"/* tx1 */ SELECT pg_advisory_lock(1, 9999999999)":                "the key of an advisory lock is a whole number of 64 bits, or two of 32",
		"/* tx1 */ SELECT pg_advisory_lock()":                             "pg_advisory_lock has 0 keys",
		"/* tx1 */ SELECT pg_advisory_lock(1, 2, 3)":                      "pg_advisory_lock has 3 keys",
		"/* tx1 */ SELECT pg_advisory_unlock_all(1)":                      "pg_advisory_unlock_all has 1 keys",
		"/* init */ SELECT pg_advisory_lock(1)":                           "the set-up has no sessions: advisory lock stands behind /* tx1 */",
		"/* init */ PREPARE TRANSACTION 'p'":                              "the set-up has no sessions: PREPARE TRANSACTION stands behind /* tx1 */",
	} {
		_, err := Parse("x", []byte(text+";\n/* tx1 */ COMMIT;\n"))
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}
