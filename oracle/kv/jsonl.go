package kv

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// FormatName opens the header line of our own form, JSON Lines:
//
//	{"format":"txnfuzz-history","version":1,"workload":"append","target":"mysql:9.7","level":"RR"}
//	{"session":0,"status":"ok","invoke":10,"return":25,"ops":[["append",1,7],["r",2,[3,4]]]}
//	{"end":1}
//
// Where there were several servers the header lists them, and each line names the one that ran the transaction:
//
//	{"format":…,"topology":"asynchronous replica","nodes":[{"name":"a","role":"primary"},{"name":"b","role":"replica"}]}
//	{"session":0,"node":"b","status":"ok","ops":[["r",1,[7]]]}
//
// One line a transaction, those of a session in its order, all others in any.
// The last line counts the transactions, so a file that was cut is known.
const FormatName = "txnfuzz-history"

const formatVersion = 1

// mostNodes is how many a history can tell apart.
const mostNodes = 255

// Source reads the transactions of a file one after another. Next fills the
// record, whose slices it uses again, and returns io.EOF after the last; a
// *SyntaxError is the last thing it returns.
type Source interface {
	Header() Header
	Names() *Names
	Next(*Record) error
}

type jsonLines struct {
	s      *scanner
	header Header
	names  Names
	count  int64
	ended  bool
	lists  arena
	spines spines
}

// ErrNoEnd is what Next returns, once, where a file in our own form has no last
// line: it was cut between two lines, or is still being written.
type ErrNoEnd struct {
	File  string
	Count int64
}

func (e *ErrNoEnd) Error() string {
	return fmt.Sprintf(`%s: expected {"end":%d} as the last line: the file was cut, or is still being written (--follow)`, e.File, e.Count)
}

// ReadJSONLines reads our own form. It returns after the header line.
func ReadJSONLines(file string, src io.Reader) (Source, error) {
	j := &jsonLines{s: newScanner(file, src)}
	err := j.s.form(true, func(c *cursor) {
		start := c.i
		c.skip()
		var h struct {
			Format  string `json:"format"`
			Version int    `json:"version"`
			Header
		}
		if err := json.Unmarshal(c.b[start:c.i], &h); err != nil {
			c.i = start
			panic(c.syntax("a header line", err.Error()))
		}
		if h.Format != FormatName || h.Version != formatVersion {
			c.i = start
			c.fail(fmt.Sprintf(`a header line with "format":%q and "version":%d`, FormatName, formatVersion))
		}
		if len(h.Nodes) > mostNodes {
			c.i = start
			c.fail(fmt.Sprintf("a header line with no more than %d nodes", mostNodes))
		}
		j.header = h.Header
	})
	if err == io.EOF {
		return nil, &SyntaxError{File: file, Line: 1, Column: 1, Want: "a header line", Got: "an empty file"}
	}
	return j, err
}

func (j *jsonLines) Header() Header { return j.header }
func (j *jsonLines) Names() *Names  { return &j.names }

func (j *jsonLines) Next(r *Record) error {
	err := j.s.form(true, func(c *cursor) { j.transaction(c, r) })
	switch {
	case err == io.EOF && !j.ended:
		return &ErrNoEnd{j.s.file, j.count}
	case err == nil && j.ended:
		return io.EOF
	case err == nil:
		j.count++
	}
	return err
}

func (j *jsonLines) transaction(c *cursor, r *Record) {
	if j.ended {
		c.fail("nothing after the last line")
	}
	*r = Record{Ops: r.Ops[:0], Session: -1, Invoke: Unknown, Return: Unknown, Place: j.s.line}
	j.lists.reset()
	start := c.i
	status := false
	c.expect('{', "a transaction: an object")
	for n := 0; c.more('}', n); n++ {
		at := c.i
		switch l := c.label(); string(l) {
		case "session":
			c.colon()
			r.Session = c.integer()
		case "status":
			c.colon()
			status = true
			r.Status = c.status()
		case "invoke":
			c.colon()
			r.Invoke = c.integer()
		case "return":
			c.colon()
			r.Return = c.integer()
		case "node":
			c.colon()
			r.Node = j.node(c)
		case "ops":
			c.colon()
			c.expect('[', "a list of operations")
			for m := 0; c.more(']', m); m++ {
				j.op(c, r)
			}
		case "end":
			c.colon()
			if n := c.integer(); n != j.count {
				c.fail(fmt.Sprintf("a last line that counts the %d transactions before it", j.count))
			}
			c.expect('}', "the end of the last line")
			j.ended = true
			return
		default:
			c.i = at
			c.fail("one of session, node, status, invoke, return, ops, end")
		}
	}
	if r.Invoke != Unknown && r.Return != Unknown && r.Return < r.Invoke {
		c.i = start
		c.fail("a transaction that returns no earlier than it is sent")
	}
	if r.Session < 0 || !status {
		c.i = start
		c.fail("a transaction with a session of 0 or more and a status")
	}
}

func (j *jsonLines) node(c *cursor) string {
	c.ws()
	at := c.i
	l := c.label()
	for _, n := range j.header.Nodes {
		if string(l) == n.Name {
			return n.Name
		}
	}
	c.i = at
	c.fail("the name of a node that the header line lists")
	return ""
}

func (c *cursor) status() Status {
	c.ws()
	at := c.i
	l := c.label()
	for s, name := range statuses {
		if string(l) == name {
			return Status(s)
		}
	}
	c.i = at
	c.fail("ok, fail or info")
	return 0
}

func (j *jsonLines) op(c *cursor, r *Record) {
	c.expect('[', `an operation such as ["w",1,2]`)
	c.ws()
	at := c.i
	o := RecordOp{}
	next := func() { c.expect(',', "a comma"); c.ws() }
	switch l := c.label(); string(l) {
	case "r":
		next()
		o.Key = c.value(&j.names)
		next()
		if c.i < len(c.b) && c.b[c.i] == '[' && j.header.Workload != Set {
			o.Kind = ReadList
			o.List, o.Lasting = j.spines.list(c, o.Key, &j.names, &j.lists)
			break
		}
		o.Kind, o.Val, o.List = c.result(&j.names, j.header.Workload, &j.lists)
	case "w", "append", "add", "delta", "insert", "init":
		switch l[0] {
		case 'w':
			o.Kind = Write
		case 'd':
			o.Kind = Delta
		case 'a':
			if o.Kind = Add; string(l) == "append" {
				o.Kind = Append
			}
		default:
			if o.Kind = Insert; string(l) == "init" {
				o.Kind = Init
			}
		}
		next()
		o.Key = c.value(&j.names)
		next()
		o.Val = c.value(&j.names)
	case "delete":
		o.Kind = Delete
		next()
		o.Key = c.value(&j.names)
	case "read-set", "versions":
		if o.Kind = ReadSet; l[0] == 'v' {
			o.Kind = Versions
		}
		next()
		o.Key = c.value(&j.names)
		next()
		o.List = c.list(&j.names, &j.lists)
	case "rp":
		o.Kind = ReadPredicate
		next()
		o.Val = c.value(&j.names)
		next()
		if !c.isNil() {
			mark := j.lists.mark()
			c.expect('[', "a list of [key, value]")
			for n := 0; c.more(']', n); n++ {
				c.expect('[', "[key, value]")
				j.lists.put(c.value(&j.names))
				next()
				j.lists.put(c.value(&j.names))
				c.expect(']', "the end of [key, value]")
			}
			o.List = j.lists.since(mark)
		}
		if c.ws(); c.i < len(c.b) && c.b[c.i] == ',' {
			next()
			c.expect('[', "the first and the last key that were asked about")
			o.First = c.value(&j.names)
			next()
			o.Last = c.value(&j.names)
			c.expect(']', "the end of these keys")
		}
	default:
		c.i = at
		c.fail("one of r, w, append, add, read-set, delta, insert, delete, init, rp, versions")
	}
	c.expect(']', "the end of the operation")
	r.Ops = append(r.Ops, o)
}

// result reads what a read returned: a value, a list or a set.
func (c *cursor) result(names *Names, w Workload, lists *arena) (Kind, Value, []Value) {
	c.ws()
	if c.peek() == '[' || w == ListAppend {
		k := ReadList
		if w == Set {
			k = ReadSet
		}
		return k, 0, c.list(names, lists)
	}
	if w == Set {
		return ReadSet, 0, c.list(names, lists)
	}
	return Read, c.value(names), nil
}

// list reads a list of values or null, the empty one.
func (c *cursor) list(names *Names, lists *arena) []Value {
	if c.isNil() {
		return nil
	}
	mark := lists.mark()
	c.expect('[', "a list of values")
	for n := 0; ; n++ {
		// Rows of small integers with one blank or comma between, as most are.
		for !c.json || n == 0 {
			i, v := c.i, Value(0)
			for i < len(c.b) && c.b[i] >= '0' && c.b[i] <= '9' && i-c.i < 18 {
				v = v*10 + Value(c.b[i]-'0')
				i++
			}
			if i == c.i || i >= len(c.b) || c.b[i] != ' ' && c.b[i] != ']' {
				break
			}
			lists.put(v)
			if c.i = i; c.b[i] == ' ' {
				c.i++
			}
			n++
		}
		if !c.more(']', n) {
			break
		}
		lists.put(c.value(names))
	}
	return lists.since(mark)
}

// arena holds the lists of one record. A list keeps its own array when the
// arena moves to a larger one, so it may grow at any time.
type arena struct{ values []Value }

func (a *arena) reset()      { a.values = a.values[:0] }
func (a *arena) mark() int   { return len(a.values) }
func (a *arena) put(v Value) { a.values = append(a.values, v) }
func (a *arena) since(mark int) []Value {
	return a.values[mark:len(a.values):len(a.values)]
}

// Writer writes our own form. It is not safe for several goroutines.
type Writer struct {
	w     *bufio.Writer
	names *Names
	buf   []byte
	count int64
}

// NewWriter writes the header line. Names may be nil if all values are integers.
func NewWriter(w io.Writer, h Header, names *Names) (*Writer, error) {
	head, err := json.Marshal(struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		Header
	}{FormatName, formatVersion, h})
	if err != nil {
		return nil, fmt.Errorf("write the header of a history: %w", err)
	}
	if names == nil {
		names = &Names{}
	}
	j := &Writer{w: bufio.NewWriterSize(w, 1<<16), names: names}
	_, err = j.w.Write(append(head, '\n'))
	return j, err
}

// Write writes one transaction; what reads of one that is not OK returned is
// left out.
func (j *Writer) Write(r *Record) error {
	b := append(j.buf[:0], `{"session":`...)
	b = strconv.AppendInt(b, r.Session, 10)
	if r.Node != "" {
		name, _ := json.Marshal(r.Node) // a string: no error
		b = append(append(b, `,"node":`...), name...)
	}
	b = append(b, `,"status":"`...)
	b = append(append(b, r.Status.String()...), '"')
	if r.Invoke != Unknown {
		b = strconv.AppendInt(append(b, `,"invoke":`...), r.Invoke, 10)
	}
	if r.Return != Unknown {
		b = strconv.AppendInt(append(b, `,"return":`...), r.Return, 10)
	}
	b = append(b, `,"ops":[`...)
	for i := range r.Ops {
		if i > 0 {
			b = append(b, ',')
		}
		b = j.op(b, &r.Ops[i], r.Status)
	}
	j.buf = append(b, "]}\n"...)
	j.count++
	_, err := j.w.Write(j.buf)
	return err
}

func (j *Writer) op(b []byte, o *RecordOp, s Status) []byte {
	b = append(append(append(b, `["`...), o.Kind.String()...), '"')
	if o.Kind == ReadPredicate {
		b = j.value(append(b, ','), o.Val)
	} else {
		b = j.value(append(b, ','), o.Key)
	}
	switch {
	case o.Kind == Delete:
	case o.Kind.IsRead() && s != OK:
		b = append(b, ",null"...)
	case o.Kind == ReadPredicate:
		b = append(b, ",["...)
		for i := 0; i+1 < len(o.List); i += 2 {
			if i > 0 {
				b = append(b, ',')
			}
			b = j.value(append(b, '['), o.List[i])
			b = append(j.value(append(b, ','), o.List[i+1]), ']')
		}
		b = append(b, ']')
	case o.Kind == ReadList || o.Kind == ReadSet || o.Kind == Versions:
		b = append(b, ",["...)
		for i, v := range o.List {
			if i > 0 {
				b = append(b, ',')
			}
			b = j.value(b, v)
		}
		b = append(b, ']')
	default:
		b = j.value(append(b, ','), o.Val)
	}
	if o.Kind == ReadPredicate && (o.First != 0 || o.Last != 0) {
		b = j.value(append(b, ",["...), o.First)
		b = append(j.value(append(b, ','), o.Last), ']')
	}
	return append(b, ']')
}

func (j *Writer) value(b []byte, v Value) []byte {
	switch {
	case v == Nil:
		return append(b, "null"...)
	case v.IsName():
		s, _ := json.Marshal(j.names.Name(v)) // a string: no error
		return append(b, s...)
	}
	return strconv.AppendInt(b, int64(v), 10)
}

// Flush hands on what is buffered, for readers that follow the file.
func (j *Writer) Flush() error { return j.w.Flush() }

// Close writes the last line, which says that nothing is missing. It does not
// close what lies below.
func (j *Writer) Close() error {
	fmt.Fprintf(j.w, "{\"end\":%d}\n", j.count)
	return j.w.Flush()
}

// Load reads all of a source. A file without its last line is an error.
func Load(file string, src Source) (*History, error) {
	h := NewHistory(src.Header(), src.Names())
	h.File = file
	var r Record
	for {
		switch err := src.Next(&r); {
		case err == io.EOF:
			h.Header = src.Header()
			h.Settle()
			return h, nil
		case err != nil:
			return nil, err
		}
		h.Add(&r)
	}
}
