package stmt

import "testing"

func TestMatches(t *testing.T) {
	for sql, want := range map[string]string{
		"UPDATE t SET b = u.b FROM u WHERE t.a = u.a": "SELECT 1 FROM t, u WHERE t.a = u.a GROUP BY t.ctid HAVING COUNT(*) > 1 LIMIT 1",
		"update t as x set b = (select 1 from v) from u join v on u.a = v.a where x.a = u.a returning *": "SELECT 1 FROM t as x, " +
			"u join v on u.a = v.a WHERE x.a = u.a GROUP BY x.ctid HAVING COUNT(*) > 1 LIMIT 1",
		"UPDATE t SET b = 'from' FROM (VALUES (1)) AS s(a)":            "SELECT 1 FROM t, (VALUES (1)) AS s(a) GROUP BY t.ctid HAVING COUNT(*) > 1 LIMIT 1",
		"DELETE FROM t x USING u WHERE x.a = u.a RETURNING u.b":        "SELECT 1 FROM t x, u WHERE x.a = u.a GROUP BY x.ctid HAVING COUNT(*) > 1 LIMIT 1",
		"UPDATE t SET b = 1 WHERE a IS DISTINCT FROM 1":                "",
		"UPDATE t SET b = EXTRACT(YEAR FROM c)":                        "",
		"UPDATE ONLY t SET b = 1 FROM u":                               "",
		"DELETE FROM t WHERE a = 1":                                    "",
		"WITH w AS (SELECT 1) UPDATE t SET b = 1 FROM w":               "",
		`UPDATE t SET b = 1 FROM "U"`:                                  "",
		"MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE":   "",
		"INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1": "",
	} {
		if got := (&RawStmt{SQL: sql}).Matches(); got != want {
			t.Errorf("%s:\n%q, want\n%q", sql, got, want)
		}
	}
}
