package load

import (
	"fmt"
	"strings"
	"testing"
)

func TestLift(t *testing.T) {
	for _, c := range []struct{ sql, want, args string }{
		{"SELECT val FROM append_list WHERE k = 12 FOR UPDATE", "SELECT val FROM append_list WHERE k = $1 FOR UPDATE", "12"},
		{"INSERT INTO append_list (k, val) VALUES (3, '14') ON DUPLICATE KEY UPDATE val = CONCAT(val, ',', '14')",
			"INSERT INTO append_list (k, val) VALUES ($1, $2) ON DUPLICATE KEY UPDATE val = CONCAT(val, $3, $4)", "3 '14' ',' '14'"},
		{"UPDATE account SET balance = balance + -5 WHERE k = 1", "UPDATE account SET balance = balance + -$1 WHERE k = $2", "5 1"},
		{"SELECT id, 1 FROM a WHERE k1 = 2 UNION ALL SELECT id, 2 FROM b2 WHERE id IN (3, 4) ORDER BY 1 LIMIT 5",
			"SELECT id, 1 FROM a WHERE k1 = $1 UNION ALL SELECT id, 2 FROM b2 WHERE id IN ($2, $3) ORDER BY 1 LIMIT 5", "2 3 4"},
		{"UPDATE t SET a = 1.5, b = 'it''s'", "UPDATE t SET a = 1.5, b = 'it''s'", ""},
		{"UPDATE t SET a = 1.5, b = 99999999999999999999", "UPDATE t SET a = 1.5, b = 99999999999999999999", ""},
		{"SELECT * FROM mixed_row FORCE INDEX (i7) WHERE c7 = 7", "SELECT * FROM mixed_row FORCE INDEX (i7) WHERE c7 = $1", "7"},
		{"SAVEPOINT s1", "SAVEPOINT s1", ""}, {"XA START 'x', '1', 2", "XA START 'x', '1', 2", ""},
	} {
		got, lifted := lift(c.sql, func(b *strings.Builder, n int) { fmt.Fprintf(b, "$%d", n) })
		var args []string
		for _, a := range lifted {
			if text := a.Value; a.Number {
				args = append(args, text)
			} else {
				args = append(args, "'"+text+"'")
			}
		}
		if got != c.want || strings.Join(args, " ") != c.args {
			t.Errorf("%s\n got %s (%s)\nwant %s (%s)", c.sql, got, strings.Join(args, " "), c.want, c.args)
		}
	}
}
