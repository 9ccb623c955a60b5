package kv

import "bytes"

// plain reads the next event, if it stands on one line and is spelled as
// Jepsen's tests of lists and registers spell it:
//
//	{:index 4, :type :ok, :process 3, :f :txn, :value [[:append 9 1] [:r 7 [1 2]]], :time 5}
//
// It is cursor and operation in one pass without a look back, three times as
// fast. False: nothing was read, and whatever it is, operation reads it.
func (e *elle) plain(ev *event) bool {
	s := e.s
	if e.json || e.closed {
		return false
	}
	i, line, lineStart := s.pos, s.line, s.lineStart
	for i < len(s.buf) && (s.buf[i] == '\n' || s.buf[i] == ' ') {
		if i++; s.buf[i-1] == '\n' {
			line++
			lineStart = s.base + int64(i)
		}
	}
	if i >= len(s.buf) || s.buf[i] != '{' {
		return false
	}
	end := bytes.IndexByte(s.buf[i:], '\n')
	if end < 0 {
		return false
	}
	// The line's end is none of the bytes that are expected, so no index is
	// beyond it.
	p := plainLine{b: s.buf[:i+end+1], i: i + 1, e: e}
	*ev = event{rec: Record{Ops: e.children[:0], Place: line}}
	e.lists.reset()
	if !p.event(ev) {
		return false
	}
	s.pos, s.line, s.lineStart = p.i, line, lineStart
	return true
}

type plainLine struct {
	b []byte
	i int
	e *elle
}

func (p *plainLine) event(ev *event) bool {
	typed, txn, value := false, false, false
	for {
		if p.b[p.i] == '}' {
			p.i++
			return typed && value
		}
		if p.b[p.i] != ':' {
			return false
		}
		n := bytes.IndexByte(p.b[p.i:], ' ')
		if n < 0 {
			return false
		}
		name := p.b[p.i+1 : p.i+n]
		p.i += n + 1
		ok := true
		switch string(name) {
		case "index", "time":
			_, ok = p.integer()
		case "process":
			ev.process, ok = p.integer()
			ok = ok && ev.process >= 0
			ev.hasProc = true
		case "type":
			ok = p.status(ev) && !typed
			typed = true
		case "f":
			ev.f = "txn"
			ok = p.word(":txn") && !txn
			txn = true
		case "value":
			ok = typed && txn && !value && p.value(ev)
			value = true
		default:
			return false
		}
		if !ok {
			return false
		}
		if p.b[p.i] == ',' {
			p.i++
		}
		if p.b[p.i] == ' ' {
			p.i++
		}
	}
}

// word eats a word that a blank, a comma or a bracket ends; a colon does not.
func (p *plainLine) word(w string) bool {
	if end := p.i + len(w); end < len(p.b) && string(p.b[p.i:end]) == w && delimits(p.b[end]) && p.b[end] != ':' {
		p.i = end
		return true
	}
	return false
}

func (p *plainLine) status(ev *event) bool {
	switch {
	case p.word(":ok"):
		ev.status = OK
	case p.word(":invoke"):
		ev.invoke = true
	case p.word(":info"):
		ev.status = Info
	case p.word(":fail"):
		ev.status = Fail
	default:
		return false
	}
	return true
}

func (p *plainLine) integer() (int64, bool) {
	neg := p.b[p.i] == '-'
	if neg {
		p.i++
	}
	b, n := p.b[p.i:], int64(0)
	i := 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		n = n*10 + int64(b[i]-'0')
	}
	if neg {
		n = -n
	}
	p.i += i
	return n, i > 0 && i <= 18 && i < len(b) && delimits(b[i]) && b[i] != ':'
}

func (p *plainLine) value(ev *event) bool {
	if p.b[p.i] != '[' {
		return false
	}
	p.i++
	for {
		for p.b[p.i] == ' ' || p.b[p.i] == ',' {
			p.i++
		}
		if p.b[p.i] == ']' {
			p.i++
			return true
		}
		if p.b[p.i] != '[' || !p.op(ev) || p.b[p.i] != ']' {
			return false
		}
		p.i++
	}
}

func (p *plainLine) op(ev *event) bool {
	p.i++
	o := RecordOp{}
	// "[:r 1 2]" is the shortest, and behind it stands the line's end.
	if p.i+3 > len(p.b) || p.b[p.i] != ':' {
		return false
	}
	switch p.b[p.i+1] {
	case 'r':
		o.Kind = Read
		p.i += 2
	case 'w':
		o.Kind = Write
		p.i += 2
	default:
		if o.Kind = Append; !p.word(":append") {
			return false
		}
	}
	if p.b[p.i] != ' ' {
		return false
	}
	p.i++
	k, ok := p.integer()
	if !ok || p.b[p.i] != ' ' {
		return false
	}
	p.i++
	o.Key = Value(k)
	switch {
	case p.b[p.i] == '[' && o.Kind == Read:
		if o.List, o.Lasting, p.i = p.e.spines.prefix(p.b, p.i, o.Key, false); p.i < 0 {
			return false
		}
		o.Kind = ReadList
	case p.word("nil"):
		o.Val = Nil
	default:
		v, ok := p.integer()
		if !ok {
			return false
		}
		o.Val = Value(v)
	}
	ev.rec.Ops = append(ev.rec.Ops, o)
	return true
}
