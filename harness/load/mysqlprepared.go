package load

import (
	"context"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness"
)

// with has do done with a statement that is prepared; asText says that it cannot be.
func (c *mysqlConn) with(way protocol.Way, q string, do func(driver.Stmt, []driver.NamedValue) error) (asText bool, err error) {
	if c.refused.Has(q) {
		return true, nil
	}
	text, args := q, []driver.NamedValue(nil)
	if way == protocol.Execute {
		text, args = parameters(q)
	}
	statement, known := c.kept.Named(text)
	if !known || way == protocol.Prepare {
		if statement, err = c.Conn.Prepare(text); err != nil {
			var answered *mysql.MySQLError
			if errors.As(err, &answered) && answered.Number == harness.ErrUnprepared {
				c.refused.Add(q)
				return true, nil
			}
			return false, err
		}
		if way == protocol.Prepare {
			defer statement.Close() // an error shows at the next statement
		} else if old, dropped := c.kept.Add(text, statement); dropped {
			_ = old.Close()
		}
	}
	return false, do(statement, args)
}

// parameters puts a question mark for each value of a statement.
func parameters(q string) (string, []driver.NamedValue) {
	text, lifted := lift(q, func(b *strings.Builder, _ int) { b.WriteByte('?') })
	args := make([]driver.NamedValue, len(lifted))
	for i, a := range lifted {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: a.Value}
		if n, err := strconv.ParseInt(a.Value, 10, 64); a.Number && err == nil {
			args[i].Value = n
		}
	}
	return text, args
}

func (c *mysqlConn) changeBy(way protocol.Way, q string) (n int64, asText bool, err error) {
	if way != protocol.Text {
		asText, err = c.with(way, q, func(s driver.Stmt, args []driver.NamedValue) error {
			r, err := s.(driver.StmtExecContext).ExecContext(context.Background(), args)
			if err == nil {
				n, err = r.RowsAffected()
			}
			return err
		})
		if !asText {
			return n, false, err
		}
	}
	n, err = c.change(q)
	return n, asText, err
}

func (c *mysqlConn) queryBy(way protocol.Way, q string, into *answer) (asText bool, err error) {
	if way != protocol.Text {
		asText, err = c.with(way, q, func(s driver.Stmt, args []driver.NamedValue) error {
			rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), args)
			if err != nil {
				return err
			}
			return c.read(rows, into)
		})
		if !asText {
			return false, err
		}
	}
	return asText, c.query(q, into)
}

type keptStatements = harness.Kept[driver.Stmt]
