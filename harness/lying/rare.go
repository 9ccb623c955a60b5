package lying

import "math/rand/v2"

// SerializableRarely serves one of n transactions at REPEATABLE READ where SERIALIZABLE was asked for. It shows only if
// another transaction writes the right row between two statements of this one: a race that few loads win. It is not
// among the Lies, which are told in each case.
func SerializableRarely(n int) Lie {
	return Lie{Name: "serializable-rarely", answer: func(c *conn, sql string) (answer, error) {
		if c.level == "SERIALIZABLE" && verb(sql) == "BEGIN" && rand.IntN(n) == 0 {
			c.tell()
			if a, err := c.ask("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"); err != nil {
				return a, err
			}
		}
		return c.ask(sql)
	}}
}
