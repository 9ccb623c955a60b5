package reduce

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// A statement that the parser does not read is kept or deleted and never changed, and the
// tables and columns that it may name keep their names.
func TestRawStatementsAreOnlyDeleted(t *testing.T) {
	const raw = "/* raw reads=shop */ SELECT price FROM shop, LATERAL (SELECT price + 1 AS c) AS x WHERE price > 5"
	checkReduce(t, `
/* init */ CREATE TABLE shop (id INT PRIMARY KEY, price INT, note VARCHAR(20));
/* init */ CREATE TABLE u (a INT);
/* init */ INSERT INTO shop VALUES (1, 10, 'x'), (2, 20, 'y');
/* tx3 */ BEGIN;
/* tx3 */ UPDATE shop SET price = price + 1 WHERE id = 1 OR id = 2;
/* tx3 */ `+raw+`;
/* tx3 */ /* raw reads=u writes=u locks=exclusive */ DELETE FROM u RETURNING a;
/* tx3 */ COMMIT;
`, func(c *corpus.Case) bool {
		price := false
		for _, l := range c.Init {
			price = price || strings.Contains(corpus.SQL(l.Stmt, corpus.Text), "price")
		}
		return price && steps(c, func(_ int, sql string) bool { return sql == raw }) == 1
	}, `
/* init */ CREATE TABLE shop (price INT);
/* tx1 */ `+raw+`;
`)
}
