package lying

import "strings"

// TornRead is a server whose SELECTs of several rows by their keys now and then, one in every, show the first rows as
// they were and the others as they are a moment later: what others committed in between is there in part. It is not
// among the Lies: the cases of those read few rows so.
func TornRead(every int64) Lie {
	return Lie{Name: "read-of-two-moments", answer: func(c *conn, sql string) (answer, error) {
		if c.inTrans || verb(sql) != "SELECT" || !strings.Contains(sql, " IN (") || c.b.amid.Add(1)%every != 0 {
			return c.ask(sql)
		}
		before, err := c.ask(sql)
		if err != nil || before.isErr() {
			return before, err
		}
		after, err := c.ask(sql)
		if err != nil || len(after) != len(before) { // another number of rows: halves of the two would not fit
			return after, err
		}
		c.tell()
		middle := len(before) / 2
		return append(append(answer{}, before[:middle]...), after[middle:]...), nil
	}}
}
