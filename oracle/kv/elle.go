package kv

import (
	"io"
	"slices"
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
