package pgsession

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Query executes what has no reason to fail, and returns the rows of its last statement. A refusal
// comes back as a *Refusal.
func (s *Session) Query(sql string) ([][]history.Cell, error) {
	r, err := s.Execute(sql)
	if err != nil {
		return nil, err
	}
	if r.Err != nil {
		return nil, &Refusal{*r.Err}
	}
	return r.Rows, nil
}

// Refusal is the error that a server answered with, as a Go error.
type Refusal struct{ Answer history.Error }

func (e *Refusal) Error() string { return fmt.Sprintf("%s: %s", e.Answer.State, e.Answer.Message) }
