package pglying

import (
	"strings"
	"sync"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// drawn holds the last answer to each nextval, by the schema and the statement.
type drawn struct {
	mu   sync.Mutex
	rows map[string][][]history.Cell
}

// swap keeps the rows of an answer and returns those of the one before.
func (d *drawn) swap(of string, rows [][]history.Cell) [][]history.Cell {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rows == nil {
		d.rows = map[string][][]history.Cell{}
	}
	was := d.rows[of]
	d.rows[of] = rows
	return was
}

// valueTwice gives the value of a sequence that was given last once more.
func valueTwice(s *session, sql string) (harness.Reply, error) {
	r, err := s.ask(sql)
	if err != nil || r.Err != nil || !strings.HasPrefix(sql, "SELECT nextval(") {
		return r, err
	}
	if was := s.b.drawn.swap(s.path+sql, r.Rows); was != nil {
		s.tell()
		r.Rows = was
	}
	return r, err
}
