package kv

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// text reads the lines that Plume, PolySI and IsoVista share:
//
//	r(key,value,session,transaction)
//	w(key,value,session,transaction)
//
// 0 is what a key holds at first, unless somebody writes it; transaction -1 is
// what failed. The operations of one transaction follow one another among those
// of its session; sessions may be mixed.
type text struct {
	file   string
	r      *bufio.Reader
	line   int64
	offset int64
	names  Names
	open   map[int64]*textTxn
	order  []int64 // sessions by first operation
	closed map[[2]int64]bool
	ready  []*Record
	atEnd  bool
	last   *Record // what Next returned, to be used again
	spare  []*Record
}

type textTxn struct {
	id  int64
	rec *Record
}

// failedTxn is the transaction of writes that failed.
const failedTxn = -1

// ReadText reads the r(…)/w(…) lines of Plume, PolySI and IsoVista.
func ReadText(file string, src io.Reader) Source {
	return &text{file: file, r: bufio.NewReaderSize(src, 1<<18), open: map[int64]*textTxn{}, closed: map[[2]int64]bool{}}
}

func (t *text) Header() Header {
	zero := int64(0)
	return Header{Workload: Register, Initial: &zero}
}

func (t *text) Names() *Names { return &t.names }

func (t *text) Next(r *Record) error {
	for len(t.ready) == 0 && !t.atEnd {
		line, err := t.r.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return fmt.Errorf("read %s: %w", t.file, err)
		}
		if err == bufio.ErrBufferFull {
			t.line++
			return t.syntax(1, "a line such as r(1,2,3,4)", "256 kB without an end")
		}
		t.atEnd = err == io.EOF
		t.line++
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) > 0 {
			if err := t.take(trimmed); err != nil {
				return err
			}
		}
		t.offset += int64(len(line))
	}
	if t.atEnd {
		for _, s := range t.order {
			if o := t.open[s]; o != nil && o.rec != nil {
				t.ready = append(t.ready, o.rec)
				o.rec = nil
			}
		}
	}
	if len(t.ready) == 0 {
		return io.EOF
	}
	if t.last != nil {
		t.spare = append(t.spare, t.last)
	}
	t.last, t.ready = t.ready[0], t.ready[1:]
	*r = *t.last
	return nil
}

func (t *text) record(session int64, s Status) *Record {
	r := &Record{}
	if n := len(t.spare); n > 0 {
		r, t.spare = t.spare[n-1], t.spare[:n-1]
	}
	*r = Record{Session: session, Status: s, Invoke: Unknown, Return: Unknown, Place: t.line, Ops: r.Ops[:0]}
	return r
}

func (t *text) syntax(column int64, want, got string) error {
	return &SyntaxError{File: t.file, Line: t.line, Column: column, Offset: t.offset + column - 1, Want: want, Got: got}
}

func (t *text) take(line []byte) error {
	const form = "r(key,value,session,transaction) or w(…), all integers"
	var n [4]int64
	if len(line) < 3 || line[0] != 'r' && line[0] != 'w' || line[1] != '(' {
		return t.syntax(1, form, strconv.Quote(clip(line)))
	}
	rest := line[2:]
	for i := range n {
		end := byte(',')
		if i == 3 {
			end = ')'
		}
		j := bytes.IndexByte(rest, end)
		column := int64(len(line)-len(rest)) + 1
		if j < 0 {
			return t.syntax(column, form, strconv.Quote(clip(line)))
		}
		v, err := strconv.ParseInt(string(bytes.TrimSpace(rest[:j])), 10, 64)
		if err != nil || !Value(v).IsInt() {
			return t.syntax(column, "an integer", strconv.Quote(clip(rest[:j])))
		}
		n[i] = v
		rest = rest[j+1:]
	}
	if len(rest) > 0 {
		return t.syntax(int64(len(line)-len(rest))+1, "the end of the line", strconv.Quote(clip(rest)))
	}
	o := RecordOp{Kind: Read, Key: Value(n[0]), Val: Value(n[1])}
	if line[0] == 'w' {
		o.Kind = Write
	}
	session, txn := n[2], n[3]
	if session < 0 {
		return t.syntax(1, "a session of 0 or more", strconv.FormatInt(session, 10))
	}
	if txn == failedTxn {
		r := t.record(session, Fail)
		r.Ops = append(r.Ops, o)
		t.ready = append(t.ready, r)
		return nil
	}
	cur := t.open[session]
	if cur == nil {
		cur = &textTxn{}
		t.open[session] = cur
		t.order = append(t.order, session)
	}
	if cur.rec != nil && cur.id != txn {
		t.ready = append(t.ready, cur.rec)
		t.closed[[2]int64{session, cur.id}] = true
		cur.rec = nil
	}
	if cur.rec == nil {
		if t.closed[[2]int64{session, txn}] {
			return t.syntax(1, "the operations of a transaction together", fmt.Sprintf("one more of transaction %d after another one of session %d", txn, session))
		}
		cur.id = txn
		cur.rec = t.record(session, OK)
	}
	cur.rec.Ops = append(cur.rec.Ops, o)
	return nil
}

func clip(b []byte) string {
	if len(b) > 40 {
		return string(b[:40]) + "…"
	}
	return string(b)
}

// WriteText writes a history of registers as r(…)/w(…) lines. Keys and values
// that are no integers, and 0 as a value that is written where Nil is read, get
// numbers of their own.
func WriteText(w io.Writer, h *History) error {
	b := bufio.NewWriterSize(w, 1<<16)
	var rec Record
	ids := map[Value]int64{}
	largest := int64(0)
	if h.Header.Workload == Bank {
		return fmt.Errorf("write %s as text: it knows reads and writes of registers only, not accounts", h.File)
	}
	for i := range h.Len() {
		for _, o := range h.Ops(i) {
			if o.Kind != Read && o.Kind != Write {
				return fmt.Errorf("write %s as text: it knows reads and writes of registers only, not %q", h.File, o.Kind)
			}
			for _, v := range []Value{o.Val, h.KeyValue(o.Key)} {
				if v.IsInt() {
					largest = max(largest, int64(v))
				}
			}
		}
	}
	number := func(v Value, isValue bool) int64 {
		switch {
		case v == Nil:
			return 0
		case v.IsInt() && v > 0, v == 0 && (!isValue || h.Header.Initial != nil):
			return int64(v)
		}
		n, ok := ids[v]
		if !ok {
			n = largest + 1 + int64(len(ids))
			ids[v] = n
		}
		return n
	}
	for i := range h.Len() {
		h.Open(i, &rec)
		if rec.Status == Info {
			return fmt.Errorf("write %s as text: it has no form for unknown outcomes (%s %d)", h.File, h.PlaceWord(), h.Place(i))
		}
		for _, o := range rec.Ops {
			txn := int64(i)
			if rec.Status == Fail {
				if o.Kind == Read {
					continue
				}
				txn = failedTxn
			}
			fmt.Fprintf(b, "%s(%d,%d,%d,%d)\n", o.Kind, number(o.Key, false), number(o.Val, true), rec.Session, txn)
		}
	}
	return b.Flush()
}
