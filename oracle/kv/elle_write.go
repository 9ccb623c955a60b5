package kv

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// WriteElle writes a history as Elle's EDN or JSON: each transaction as its
// invocation and its completion, those that overlap in the order of their times.
// Where not all have times only completions are written: an invocation would claim
// an order. The times of one session must not overlap, for a process of Elle's does
// one thing at a time.
func WriteElle(w io.Writer, h *History, json bool) error {
	var r Record
	for i := range h.Len() {
		asksOfSome := func(o RecordOp) bool { return o.First != 0 || o.Last != 0 }
		if h.Open(i, &r); h.Holds(Versions) || slices.ContainsFunc(r.Ops, asksOfSome) || !elleCanSay(h, &r) {
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

// value writes ":f …, :value …" of a transaction.
func (p *ellePrinter) value(r *Record, results bool) string {
	var b strings.Builder
	f, open, closing := "txn", "[", "]"
	switch {
	case len(r.Ops) == 1 && (r.Ops[0].Kind == Add || r.Ops[0].Kind == ReadSet):
		return p.set(r.Ops[0], results)
	case len(r.Ops) > 0 && r.Ops[0].Kind == Init:
		f, open, closing = "init", "{", "}"
	case p.h.Header.Workload == Bank && len(r.Ops) > 0 && r.Ops[0].Kind == Read:
		if f = "read"; !results {
			return p.field("f", p.word(f)) + p.sep() + p.field("value", p.null())
		}
		open, closing = "{", "}"
	case len(r.Ops) == 2 && r.Ops[0].Kind == Delta:
		return p.field("f", p.word("transfer")) + p.sep() + p.field("value", "{"+
			p.field("from", p.spell(r.Ops[0].Key))+p.sep()+p.field("to", p.spell(r.Ops[1].Key))+p.sep()+
			p.field("amount", p.spell(r.Ops[1].Val))+"}")
	}
	b.WriteString(open)
	for i, o := range r.Ops {
		if i > 0 {
			b.WriteString(p.sep())
		}
		if open == "{" {
			b.WriteString(p.entry(o.Key, o.Val))
			continue
		}
		p.op(&b, o, results)
	}
	b.WriteString(closing)
	return p.field("f", p.word(f)) + p.sep() + p.field("value", b.String())
}

func (p *ellePrinter) set(o RecordOp, results bool) string {
	f, v := "add", p.spell(o.Val)
	if o.Kind == ReadSet {
		if f, v = "read", p.null(); results {
			v = p.list(o.List)
		}
	}
	if o.Key != 0 {
		v = "[" + p.spell(o.Key) + p.sep() + v + "]"
	}
	return p.field("f", p.word(f)) + p.sep() + p.field("value", v)
}

func (p *ellePrinter) op(b *strings.Builder, o RecordOp, results bool) {
	b.WriteString("[" + p.word(o.Kind.String()) + p.sep())
	switch {
	case o.Kind == ReadPredicate:
		b.WriteString(p.condition(p.h.Names.Name(o.Val)) + p.sep())
		if !results {
			b.WriteString(p.null())
			break
		}
		b.WriteString("{")
		for i := 0; i+1 < len(o.List); i += 2 {
			if i > 0 {
				b.WriteString(p.sep())
			}
			b.WriteString(p.entry(o.List[i], o.List[i+1]))
		}
		b.WriteString("}")
	case o.Kind == Delete:
		b.WriteString(p.spell(o.Key))
	case o.Kind.IsRead() && !results:
		b.WriteString(p.spell(o.Key) + p.sep() + p.null())
	case o.Kind == ReadList || o.Kind == ReadSet:
		b.WriteString(p.spell(o.Key) + p.sep() + p.list(o.List))
	default:
		b.WriteString(p.spell(o.Key) + p.sep() + p.spell(o.Val))
	}
	b.WriteString("]")
}

func (p *ellePrinter) condition(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		if _, err := strconv.Atoi(w); err != nil {
			words[i] = p.word(w)
		}
	}
	if len(words) == 1 {
		return words[0]
	}
	return "[" + strings.Join(words, p.sep()) + "]"
}

func (p *ellePrinter) list(vs []Value) string {
	var b strings.Builder
	b.WriteString("[")
	for i, v := range vs {
		if i > 0 {
			b.WriteString(p.sep())
		}
		b.WriteString(p.spell(v))
	}
	b.WriteString("]")
	return b.String()
}

func (p *ellePrinter) entry(k, v Value) string {
	if !p.json {
		return p.spell(k) + " " + p.spell(v)
	}
	key := p.spell(k)
	if !strings.HasPrefix(key, `"`) {
		key = `"` + key + `"`
	}
	return key + ":" + p.spell(v)
}

func (p *ellePrinter) field(name, v string) string {
	if p.json {
		return `"` + name + `":` + v
	}
	return ":" + name + " " + v
}

func (p *ellePrinter) word(w string) string {
	if p.json {
		return `"` + w + `"`
	}
	return ":" + w
}

func (p *ellePrinter) sep() string {
	if p.json {
		return ","
	}
	return " "
}

func (p *ellePrinter) null() string {
	if p.json {
		return "null"
	}
	return "nil"
}

func (p *ellePrinter) spell(v Value) string {
	switch {
	case v == Nil:
		return p.null()
	case !v.IsName():
		return strconv.FormatInt(int64(v), 10)
	}
	s := p.h.Names.Name(v)
	if p.json {
		out, _ := json.Marshal(s) // a string: no error
		return string(out)
	}
	if keyword(s) {
		return ":" + s
	}
	if s != "" && strings.ContainsRune(`"[({#\`, rune(s[0])) {
		return s // as it was read
	}
	return strconv.Quote(s)
}

// keyword tells whether a name can be written as an EDN keyword.
func keyword(s string) bool {
	for i := range len(s) {
		b := s[i]
		letter := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_'
		if !letter && (i == 0 || !(b >= '0' && b <= '9' || b == '-' || b == '.')) {
			return false
		}
	}
	return s != ""
}
