package property

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Honest holds recorded runs of honest servers.
type Honest struct{ records []oracle.Record }

// LoadHonest reads the records in the files *-honest.jsonl of a folder. None is
// an error.
func LoadHonest(dir string) (*Honest, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*-honest.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("look for recorded histories: %w", err)
	}
	h := new(Honest)
	for _, file := range files {
		records, err := oracle.LoadRecords(file)
		if err != nil {
			return nil, err
		}
		h.records = append(h.records, records...)
	}
	if len(h.records) == 0 {
		return nil, fmt.Errorf("no recorded histories in %s (want files *-honest.jsonl)", dir)
	}
	return h, nil
}

// Len returns the number of records. The first two bytes of an input for Judge
// choose one of them, the low byte first.
func (h *Honest) Len() int { return len(h.records) }

// Judge judges a record again, changed in ways that mean nothing: other gaps
// between the ticks of the clock. The verdict is the recorded one. Then it makes
// the server lie about rows, counts and errors: of that the oracle says the same
// each time, with a fingerprint if it is a violation.
func (h *Honest) Judge(data []byte) error {
	in := input(data)
	r := h.records[(int(in.next())+int(in.next())<<8)%len(h.records)]
	honest, err := stretched(r.History, &in)
	if err != nil {
		return err
	}
	got, err := (&oracle.Record{Case: r.Case, History: honest}).Judge("honest")
	if err != nil {
		return err
	}
	if diff := cmp.Diff(r.Verdict, got); diff != "" {
		return fmt.Errorf("the verdict depends on the gaps between ticks (-recorded +stretched):\n%s\n%s", diff, r.Case)
	}
	lie, err := stretched(r.History, &in)
	if err != nil {
		return err
	}
	for range 1 + in.next()%3 {
		lieAbout(lie, &in)
	}
	again, err := cloned(lie)
	if err != nil {
		return err
	}
	first, err1 := (&oracle.Record{Case: r.Case, History: lie}).Judge("lie")
	second, err2 := (&oracle.Record{Case: r.Case, History: again}).Judge("lie")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if diff := cmp.Diff(first, second); diff != "" {
		return fmt.Errorf("judged twice (-first +second):\n%s\n%s", diff, r.Case)
	}
	if first.Outcome == oracle.Violation && first.Fingerprint == "" {
		return fmt.Errorf("a violation without a fingerprint: %+v\n%s", first, r.Case)
	}
	return nil
}

// input reads bytes, zeros behind the end.
type input []byte

func (in *input) next() byte {
	if len(*in) == 0 {
		return 0
	}
	b := (*in)[0]
	*in = (*in)[1:]
	return b
}

func cloned(h *history.History) (*history.History, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("copy a history: %w", err)
	}
	out := new(history.History)
	if err := json.Unmarshal(text, out); err != nil {
		return nil, fmt.Errorf("copy a history: %w", err)
	}
	return out, nil
}

// stretched copies a history with other gaps between its ticks, in the same
// order.
func stretched(h *history.History, in *input) (*history.History, error) {
	out, err := cloned(h)
	if err != nil {
		return nil, err
	}
	var ticks []*history.Tick
	last := history.Tick(0)
	for i := range out.Stmts {
		s := &out.Stmts[i]
		ticks = append(ticks, &s.Submit, &s.Return)
		for j := range s.Waits {
			ticks = append(ticks, &s.Waits[j].From, &s.Waits[j].Until)
		}
	}
	for _, at := range ticks {
		last = max(last, *at)
	}
	moved := make([]history.Tick, last+1)
	for i := 1; i < len(moved); i++ {
		moved[i] = moved[i-1] + 1 + history.Tick(in.next()%4)
	}
	for _, at := range ticks {
		*at = moved[*at]
	}
	return out, nil
}

// lieAbout changes one answer.
func lieAbout(h *history.History, in *input) {
	if len(h.Stmts) == 0 {
		return
	}
	r := &h.Stmts[int(in.next())%len(h.Stmts)].Result
	switch what := in.next() % 5; {
	case what == 0 && len(r.Rows) > 0:
		row := r.Rows[int(in.next())%len(r.Rows)]
		if len(row) > 0 {
			row[int(in.next())%len(row)] = history.Cell{Text: string(rune('0' + in.next()%10))}
		}
	case what == 1 && len(r.Rows) > 0:
		r.Rows = r.Rows[:len(r.Rows)-1]
	case what == 2 && len(r.Rows) > 0:
		r.Rows = append(r.Rows, r.Rows[0])
	case what == 3 && r.Err == nil:
		codes := []uint16{1213, 1205, 1062, 1020, 9007, 8133}
		r.Err = &history.Error{Code: codes[int(in.next())%len(codes)], Message: "a lie"}
		r.Rows, r.Columns = nil, nil
	case r.Affected >= 0:
		r.Affected += int64(in.next()%5) - 2
	}
}
