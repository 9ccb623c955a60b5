package load

import "github.com/txnfuzz/txnfuzz/oracle/kv"

// operator is a conn that is told the operations of a transaction instead of SQL.
type operator interface {
	begin() error
	// operate does a step of a kind of workload and adds what it returns to an answer.
	operate(kind kv.Workload, s step, into *answer) error
	// endWith ends a transaction: COMMIT or ROLLBACK.
	endWith(how string) error
}

// begin begins a transaction with a statement; an operator has one way to begin.
func (s *session) begin(how string) error {
	if o, ok := s.conn.(operator); ok {
		if err := o.begin(); err != nil {
			return s.failed(err)
		}
		return nil
	}
	return s.exec(how)
}

// end ends a transaction: COMMIT or ROLLBACK.
func (s *session) end(how string) error {
	if o, ok := s.conn.(operator); ok {
		if err := o.endWith(how); err != nil {
			return s.failed(err)
		}
		return nil
	}
	return s.exec(how)
}

// step does one step of a workload. text is a buffer, which comes back with what was sent, for messages; the answer is
// valid until the next step.
func (s *session) step(w workload, d *dialect, text []byte, x step) ([]byte, *answer, error) {
	if o, ok := s.conn.(operator); ok {
		text = spellStep(text[:0], w.kind(), x)
		s.got = answer{rows: s.got.rows[:0], text: s.got.text[:0]}
		if err := o.operate(w.kind(), x, &s.got); err != nil {
			return text, nil, s.failed(err)
		}
		return text, &s.got, nil
	}
	text = w.sql(d, text[:0], x)
	var a *answer
	var err error
	if x.kind.IsRead() {
		a, err = s.query(string(text))
	} else {
		a, err = s.change(string(text))
	}
	return text, a, err
}
