package oracle

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// FuzzHonest judges recorded runs of honest servers again, changed in ways that
// mean nothing: other gaps between the ticks of the clock. The verdict must be
// the recorded one. Then it makes the server lie about rows, counts and errors: of
// that the oracle must say the same each time, with a fingerprint if it is a
// violation, and must not break down.
func FuzzHonest(f *testing.F) {
	files, err := filepath.Glob("testdata/*-honest.jsonl")
	if err != nil || len(files) == 0 {
		f.Fatalf("no recorded honest histories (%v)", err)
	}
	var records []Record
	for _, file := range files {
		more, err := LoadRecords(file)
		if err != nil {
			f.Fatal(err)
		}
		records = append(records, more...)
	}
	for i := range records {
		f.Add([]byte{byte(i), byte(i >> 8), 3, byte(7 * i), byte(13 * i), byte(i), 1, 2, byte(5 * i)})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := input(data)
		r := records[(int(in.next())+int(in.next())<<8)%len(records)]
		honest := r
		honest.History = stretched(t, r.History, &in)
		got, err := honest.Judge("honest")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Verdict, got); diff != "" {
			t.Fatalf("the verdict depends on the gaps between ticks (-recorded +stretched):\n%s\n%s", diff, r.Case)
		}
		lie := honest
		lie.History = stretched(t, r.History, &in)
		for range 1 + in.next()%3 {
			lieAbout(lie.History, &in)
		}
		first, err := lie.Judge("lie")
		if err != nil {
			t.Fatal(err)
		}
		again := lie
		again.History = cloned(t, lie.History)
		second, err := again.Judge("lie")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("judged twice (-first +second):\n%s\n%s", diff, r.Case)
		}
		if first.Outcome == Violation && first.Fingerprint == "" {
			t.Fatalf("a violation without a fingerprint: %+v\n%s", first, r.Case)
		}
	})
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

func cloned(t *testing.T, h *history.History) *history.History {
	t.Helper()
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	out := new(history.History)
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// stretched copies a history with other gaps between its ticks, in the same
// order.
func stretched(t *testing.T, h *history.History, in *input) *history.History {
	t.Helper()
	out := cloned(t, h)
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
	return out
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
