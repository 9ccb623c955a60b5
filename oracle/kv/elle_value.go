package kv

import (
	"slices"
	"strconv"
)

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
