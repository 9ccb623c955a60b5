package stmt_test

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
)

// TestTakesEqual tells which statements give one value for several that are equal, and which name a type whose equal values may be written differently.
func TestTakesEqual(t *testing.T) {
	for sql, want := range map[string]struct{ takes, loose bool }{
		"SELECT a FROM t WHERE a = 1.5":                                                 {false, true},
		"/* raw reads=t */ SELECT DISTINCT b::bpchar FROM t":                            {true, true},
		"SELECT a FROM t WHERE a = 15":                                                  {false, false},
		"SELECT DISTINCT a FROM t":                                                      {true, false},
		"SELECT MAX(CASE a WHEN 1 THEN 3.0 ELSE 3.00 END) FROM t":                       {true, true},
		"SELECT a, COUNT(*) FROM t GROUP BY a":                                          {true, false},
		"SELECT COUNT(*) FROM t":                                                        {false, false},
		"SELECT a FROM t UNION SELECT 1":                                                {true, false},
		"DELETE FROM t WHERE a IN (SELECT MIN(a) FROM t)":                               {true, false},
		"/* raw reads=t */ SELECT a FROM t WHERE a IS DISTINCT FROM 1":                  {false, false},
		"/* raw reads=t */ SELECT DISTINCT a FROM t WHERE t.a > 1":                      {true, false},
		"/* raw reads=t */ SELECT a FROM t WHERE a > 1.25 FOR KEY SHARE":                {false, true},
		"/* raw reads=t writes=t */ UPDATE t SET a = GREATEST(a, 1.0) RETURNING a":      {true, true},
		"/* raw reads=t writes=t */ UPDATE t SET a = GREATEST(a, a) WHERE a::int = 1":   {false, true},
		"/* raw reads=t writes=t */ UPDATE t SET a = GREATEST(a, b) WHERE a::int = 1":   {true, true},
		"/* raw reads=t writes=t */ UPDATE t SET a = LEAST('1', '1.0')":                 {true, false},
		"/* raw reads=t writes=t */ UPDATE t SET a = 'max 1.0' WHERE a = 1 RETURNING a": {false, false},
	} {
		n, err := corpus.ParseStatement(sql)
		if err != nil {
			t.Fatal(err)
		}
		if takes, loose := stmt.TakesEqual(n), stmt.NamesLooseType(n); takes != want.takes || loose != want.loose {
			t.Errorf("%s: takes %t, loose %t", sql, takes, loose)
		}
	}
}
