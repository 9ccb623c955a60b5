package kv

import (
	"encoding/json"
	"strconv"
	"strings"
)

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
