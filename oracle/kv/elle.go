package kv

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// elle reads the histories of Jepsen and Elle, EDN or JSON: a row of maps, with
// or without a bracket around them, each an invocation or a completion:
//
//	{:type :ok, :f :txn, :process 3, :value [[:append x 1] [:r y [1 2]]]}
//
// Times are places in the file, as in Elle; ":time" is not read.
type elle struct {
	s        *scanner
	json     bool
	names    Names
	header   Header
	bracket  bool
	closed   bool
	events   int64
	loners   int64
	open     map[int64]*Record // by process: what was invoked
	order    []int64           // processes that have something open, oldest first
	spare    []*Record
	lists    arena
	spines   spines
	rest     []*Record // what was still open at the end
	atEnd    bool
	children []RecordOp
}

// lonerSession numbers transactions without a process: no order is known of them.
const lonerSession = 1 << 40

// ReadElle reads the EDN or JSON of Jepsen and Elle.
func ReadElle(file string, src io.Reader, json bool) Source {
	return &elle{s: newScanner(file, src), json: json, open: map[int64]*Record{}}
}

func (e *elle) Header() Header { return e.header }
func (e *elle) Names() *Names  { return &e.names }

// event is one map of the file.
type event struct {
	status  Status
	invoke  bool
	f       string
	process int64
	hasProc bool
	ignore  bool // of a nemesis
	// opened, closed: a bracket of the whole history was met. They count only
	// once the form is read whole, for it may be read again.
	opened, closed bool
	rec            Record
}

func (e *elle) Next(r *Record) error {
	for !e.atEnd {
		var ev event
		if e.plain(&ev) {
			e.children = ev.rec.Ops[:0]
			if e.take(&ev, r) {
				return nil
			}
			continue
		}
		got := false
		err := e.s.form(e.json, func(c *cursor) {
			got = false
			ev = event{rec: Record{Ops: e.children[:0]}}
			e.lists.reset()
			got = e.event(c, &ev)
		})
		if err == nil {
			e.bracket = e.bracket || ev.opened
			e.closed = e.closed || ev.closed
		}
		if err == io.EOF || err == nil && !got {
			if e.bracket && !e.closed {
				c := cursor{s: e.s, b: e.s.buf, i: len(e.s.buf), json: e.json}
				return c.syntax("the closing bracket of the history: the file is cut", "its end")
			}
			if err == nil {
				continue // the end bracket; nothing may follow
			}
			e.finish()
			break
		}
		if err != nil {
			return err
		}
		e.children = ev.rec.Ops[:0]
		if e.take(&ev, r) {
			return nil
		}
	}
	if len(e.rest) == 0 {
		return io.EOF
	}
	*r = *e.rest[0]
	e.rest = e.rest[1:]
	return nil
}

// finish makes what was never completed unknown outcomes.
func (e *elle) finish() {
	e.atEnd = true
	for _, p := range e.order {
		if o := e.open[p]; o != nil {
			o.Status, o.Return = Info, Unknown
			e.rest = append(e.rest, o)
			delete(e.open, p)
		}
	}
}

// take turns an event into a record, if it completes one.
func (e *elle) take(ev *event, r *Record) bool {
	e.events++
	if ev.ignore {
		return false
	}
	if !ev.hasProc {
		if ev.invoke {
			return false
		}
		ev.process = lonerSession + e.loners
		e.loners++
	}
	if ev.invoke {
		var o *Record
		if n := len(e.spare); n > 0 {
			o, e.spare = e.spare[n-1], e.spare[:n-1]
		} else {
			o = &Record{}
		}
		o.Session, o.Invoke, o.Return, o.Place = ev.process, e.events, Unknown, ev.rec.Place
		o.Ops = o.Ops[:0]
		for _, x := range ev.rec.Ops {
			x.List, x.Lasting = slices.Clone(x.List), false
			o.Ops = append(o.Ops, x)
		}
		left := e.open[ev.process]
		if left == nil {
			e.order = append(e.order, ev.process)
			if len(e.order) > 4*len(e.open)+64 {
				e.order = slices.DeleteFunc(e.order, func(p int64) bool { return e.open[p] == nil && p != ev.process })
			}
		}
		e.open[ev.process] = o
		if left != nil {
			// Its process went on without a word of how it ended.
			*r = *left
			r.Status, r.Return = Info, Unknown
			return true
		}
		return false
	}
	*r = ev.rec
	r.Session, r.Invoke, r.Return = ev.process, Unknown, Unknown
	r.Status = ev.status
	if o := e.open[ev.process]; o != nil {
		delete(e.open, ev.process)
		r.Invoke, r.Return = o.Invoke, e.events
		if r.Status != OK && len(r.Ops) == 0 {
			r.Ops = append(r.Ops, o.Ops...)
		}
		e.spare = append(e.spare, o)
	}
	if r.Status == Info {
		r.Return = Unknown
	}
	return true
}

// event reads one map; false for the brackets around all.
func (e *elle) event(c *cursor, ev *event) bool {
	switch b := c.peek(); {
	case b == '[' && !e.bracket && e.events == 0:
		c.i++
		ev.opened = true
		return e.operation(c, ev)
	case b == ']' && e.bracket && !e.closed:
		c.i++
		ev.closed = true
		return false
	case e.closed:
		c.fail("nothing behind the history's end")
	}
	return e.operation(c, ev)
}

func (e *elle) operation(c *cursor, ev *event) bool {
	c.ws()
	if c.peek() == ']' && (e.bracket || ev.opened) {
		c.i++
		ev.closed = true
		return false
	}
	if c.peek() == ',' && e.json {
		c.i++
		c.ws()
	}
	if c.peek() == '#' && !c.json { // #jepsen.history.Op{…}
		c.i++
		c.word()
		c.ws()
	}
	start := c.i
	place := e.s.line
	for _, b := range c.b[e.s.pos:c.i] {
		if b == '\n' {
			place++
		}
	}
	ev.rec.Place = place
	c.expect('{', "an operation: a map such as {:type :ok, :process 0, :value [[:r x nil]]}")
	valueAt, typed := -1, false
	for n := 0; c.more('}', n); n++ {
		l := c.label()
		c.colon()
		switch string(l) {
		case "type":
			at := c.i
			typed = true
			switch l := c.label(); string(l) {
			case "invoke":
				ev.invoke = true
			case "ok":
				ev.status = OK
			case "fail":
				ev.status = Fail
			case "info":
				ev.status = Info
			default:
				c.i = at
				c.fail("invoke, ok, fail or info")
			}
		case "f":
			if !c.isNil() {
				if l := c.label(); string(l) == "txn" {
					ev.f = "txn" // the rule, without an allocation
				} else {
					ev.f = string(l)
				}
			}
		case "process":
			if c.isNil() {
				continue
			}
			if b := c.peek(); b >= '0' && b <= '9' {
				ev.process, ev.hasProc = c.integer(), true
			} else {
				c.skip()
				ev.ignore = true
			}
		case "value":
			if c.ws(); typed && ev.f == "txn" && !ev.ignore {
				e.value(c, ev)
				continue
			}
			valueAt = c.i
			c.skip()
		default:
			c.skip()
		}
	}
	if !typed {
		c.i = start
		c.fail("an operation with a type")
	}
	if valueAt >= 0 && !ev.ignore {
		end := c.i
		c.i = valueAt
		e.value(c, ev)
		c.i = end
	}
	return true
}

func (e *elle) value(c *cursor, ev *event) {
	if c.isNil() {
		if ev.f == "read" {
			ev.rec.Ops = append(ev.rec.Ops, RecordOp{Kind: Read, Val: Nil})
		}
		return
	}
	if (ev.invoke || ev.status != OK) && ev.f != "txn" && ev.f != "" && ev.f != "init" && c.peek() == '[' && !e.transaction(c) && ev.f != "add" {
		return // why it failed, as some tests tell it
	}
	add := func(o RecordOp) { ev.rec.Ops = append(ev.rec.Ops, o) }
	c.ws()
	b := c.peek()
	switch {
	case ev.f == "init":
		e.pairs(c, func(k, v Value) { add(RecordOp{Kind: Init, Key: k, Val: v}) })
	case ev.f == "transfer" && b == '{':
		e.transfer(c, add)
	case ev.f == "read" && b == '{':
		e.header.Workload = Bank
		e.pairs(c, func(k, v Value) { add(RecordOp{Kind: Read, Key: k, Val: v}) })
	case ev.f == "add":
		o := RecordOp{Kind: Add}
		if b == '[' { // one of several sets
			c.i++
			o.Key = c.value(&e.names)
			e.comma(c)
			o.Val = c.value(&e.names)
			c.expect(']', "the end of [set element]")
		} else {
			o.Val = c.value(&e.names)
		}
		add(o)
	case ev.f == "read" && !e.transaction(c):
		e.readSet(c, add)
	case b == '[':
		c.i++
		for n := 0; c.more(']', n); n++ {
			e.op(c, add)
		}
	default:
		c.fail("a transaction: [[:r x nil] [:append y 1]]")
	}
}

// transaction tells whether a value is a list of lists that start with a word.
func (e *elle) transaction(c *cursor) bool {
	at := c.i
	defer func() { c.i = at }()
	if c.peek() != '[' {
		return false
	}
	c.i++
	if c.ws(); c.peek() != '[' {
		return false
	}
	c.i++
	c.ws()
	return c.peek() == ':' || c.peek() == '"'
}

func (e *elle) comma(c *cursor) {
	if c.json {
		c.expect(',', "a comma")
	}
	c.ws()
}

// readSet reads [1 2 3], #{1 2 3}, or [set [1 2 3]].
func (e *elle) readSet(c *cursor, add func(RecordOp)) {
	o := RecordOp{Kind: ReadSet}
	closing := byte(']')
	if c.peek() == '#' && !c.json {
		c.i++
		closing = '}'
		if c.peek() != '{' {
			c.fail("the elements of a set")
		}
	} else if c.peek() != '[' {
		c.fail("the elements of a set")
	}
	c.i++
	mark := e.lists.mark()
	for n := 0; c.more(closing, n); n++ {
		if n == 1 && (c.peek() == '[' || c.peek() == '#' || c.peek() == 'n') {
			// The first was the set's name.
			o.Key = e.lists.values[mark]
			if c.isNil() {
				o.Kind, o.Val = Read, Nil
				o.List = nil
			} else {
				inner := RecordOp{}
				e.readSet(c, func(x RecordOp) { inner = x })
				o.List = inner.List
			}
			c.expect(closing, "the end of [set elements]")
			add(o)
			return
		}
		e.lists.put(c.value(&e.names))
	}
	o.List = e.lists.since(mark)
	add(o)
}

func (e *elle) transfer(c *cursor, add func(RecordOp)) {
	var from, to Value
	amount := int64(0)
	c.expect('{', "a transfer")
	for n := 0; c.more('}', n); n++ {
		l := string(c.label())
		c.colon()
		switch l {
		case "from":
			from = c.value(&e.names)
		case "to":
			to = c.value(&e.names)
		case "amount":
			amount = c.integer()
		default:
			c.skip()
		}
	}
	e.header.Workload = Bank
	add(RecordOp{Kind: Delta, Key: from, Val: Value(-amount)})
	add(RecordOp{Kind: Delta, Key: to, Val: Value(amount)})
}

// pairs reads a map of keys and values; of JSON, whose keys are strings, those
// that spell an integer are one.
func (e *elle) pairs(c *cursor, f func(k, v Value)) {
	c.expect('{', "a map of keys and values")
	for n := 0; c.more('}', n); n++ {
		var k Value
		if c.json {
			l := c.label()
			if i, err := strconv.ParseInt(string(l), 10, 64); err == nil && Value(i).IsInt() {
				k = Value(i)
			} else {
				k = c.name(&e.names, l)
			}
		} else {
			k = c.value(&e.names)
		}
		c.colon()
		f(k, c.value(&e.names))
	}
}

func (e *elle) op(c *cursor, add func(RecordOp)) {
	c.expect('[', "an operation such as [:r x nil]")
	c.ws()
	at := c.i
	l := c.label()
	o := RecordOp{}
	switch string(l) {
	case "r":
		o.Kind = Read
	case "append":
		o.Kind = Append
	case "w":
		o.Kind = Write
	case "add":
		o.Kind = Add
	case "insert":
		o.Kind = Insert
	case "delete":
		o.Kind = Delete
	case "rp":
		o.Kind = ReadPredicate
	default:
		c.i = at
		c.fail("one of r, w, append, add, insert, delete, rp")
	}
	kind := o.Kind
	e.comma(c)
	if kind == ReadPredicate {
		start := c.i
		c.skip()
		o.Val = c.name(&e.names, condition(c.b[start:c.i]))
		e.comma(c)
		if !c.isNil() {
			mark := e.lists.mark()
			e.pairs(c, func(k, v Value) { e.lists.put(k); e.lists.put(v) })
			o.List = e.lists.since(mark)
		}
	} else {
		o.Key = c.value(&e.names)
	}
	switch {
	case kind == ReadPredicate:
	case kind == Delete:
		if c.ws(); c.peek() != ']' {
			e.comma(c)
			c.skip()
		}
	case kind == Read:
		if c.ws(); c.peek() == ']' {
			o.Val = Nil
			break
		}
		e.comma(c)
		if c.peek() == '[' {
			o.Kind = ReadList
			o.List, o.Lasting = e.spines.list(c, o.Key, &e.names, &e.lists)
		} else {
			o.Val = c.value(&e.names)
		}
	default:
		e.comma(c)
		o.Val = c.value(&e.names)
	}
	c.expect(']', "the end of the operation")
	add(o)
}

// condition spells a predicate as EDN and JSON have it the same way: true, = 5,
// mod 2 0.
func condition(raw []byte) []byte {
	var out []byte
	for _, b := range raw {
		switch b {
		case '[', ']', '"', ':':
		case ',':
			out = append(out, ' ')
		default:
			out = append(out, b)
		}
	}
	return slices.CompactFunc(out, func(a, b byte) bool { return a == ' ' && b == ' ' })
}

// WriteElle writes a history as Elle's EDN or JSON: each transaction as its
// invocation and its completion, those that overlap in the order of their times.
// Where not all have times only completions are written: an invocation would claim
// an order. The times of one session must not overlap, for a process of Elle's does
// one thing at a time.
func WriteElle(w io.Writer, h *History, json bool) error {
	var r Record
	for i := range h.Len() {
		if h.Open(i, &r); !elleCanSay(h, &r) {
			return fmt.Errorf("write %s as Elle's: it has no form for the transaction at %s %d", h.File, h.PlaceWord(), h.Place(i))
		}
	}
	moments, err := timeOrder(h)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	p := ellePrinter{b: b, h: h, json: json}
	if json {
		b.WriteString("[")
	}
	for _, m := range moments {
		p.event(int(m.t), m.done)
	}
	if json {
		b.WriteString("]\n")
	}
	return b.Flush()
}

// elleCanSay tells whether Elle has a form for a transaction: a set is read or
// added to alone, a transfer takes from one account what it gives to another.
func elleCanSay(h *History, r *Record) bool {
	var kinds [16]int
	for _, o := range r.Ops {
		kinds[o.Kind]++
	}
	n := len(r.Ops)
	switch {
	case kinds[ReadSet] > 0:
		return n == 1
	case kinds[Init] > 0:
		return kinds[Init] == n
	case kinds[Delta] > 0:
		return n == 2 && kinds[Delta] == 2 && r.Ops[0].Val == -r.Ops[1].Val
	case h.Header.Workload == Bank:
		return kinds[Read] == n
	}
	return true
}

// moment is when a transaction was sent, or done.
type moment struct {
	at   int64
	t    int32
	done bool
}

// timeOrder returns the invocation and the completion of each transaction by
// time, or completions only, in the order of the history.
func timeOrder(h *History) ([]moment, error) {
	var all []moment
	for i := range h.Len() {
		x := h.Txn(i)
		if x.Invoke == Unknown || x.Return == Unknown && x.Status != Info {
			all = all[:0]
			for t := range h.Len() {
				all = append(all, moment{0, int32(t), true})
			}
			return all, nil
		}
		all = append(all, moment{x.Invoke, int32(i), false})
		if x.Return != Unknown {
			all = append(all, moment{x.Return, int32(i), true})
		}
	}
	// What returned at the moment at which another was sent overlaps it.
	slices.SortStableFunc(all, func(a, b moment) int {
		switch {
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		case a.done != b.done && a.t != b.t && a.done:
			return 1
		case a.done != b.done && a.t != b.t:
			return -1
		}
		return 0
	})
	type process struct {
		last int32
		busy bool
	}
	sessions := make([]process, h.Sessions())
	for i := range sessions {
		sessions[i].last = -1
	}
	for _, m := range all {
		x := h.Txn(int(m.t))
		p := &sessions[x.Session]
		if !m.done && (p.busy || m.t < p.last) {
			return nil, fmt.Errorf("write %s as Elle's: session %d has two transactions at once, or not in the order of their times (%s %d)", h.File, h.SessionName(x.Session), h.PlaceWord(), h.Place(int(m.t)))
		}
		*p = process{m.t, !m.done && x.Return != Unknown}
	}
	return all, nil
}

type ellePrinter struct {
	b    *bufio.Writer
	h    *History
	json bool
	n    int
	rec  Record
}

func (p *ellePrinter) event(t int, done bool) {
	p.h.Open(t, &p.rec)
	r := &p.rec
	kind := "invoke"
	if done {
		kind = r.Status.String()
	}
	if p.json {
		if p.n > 0 {
			p.b.WriteString(",\n")
		}
		fmt.Fprintf(p.b, `{"index":%d,"type":"%s","process":%d,`, p.n, kind, r.Session)
	} else {
		fmt.Fprintf(p.b, "{:index %d, :type :%s, :process %d, ", p.n, kind, r.Session)
	}
	p.n++
	p.b.WriteString(p.value(r, done && r.Status == OK))
	p.b.WriteString("}")
	if !p.json {
		p.b.WriteString("\n")
	}
}
