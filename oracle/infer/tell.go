package infer

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// maxQuoted bounds how much of a transaction is quoted.
const maxQuoted = 300

// quote writes an operation as a person reads it: append x 3, r x [1 2].
func quote(h *kv.History, t int32, o kv.Op) string {
	unknown := h.Status(int(t)) != kv.OK && o.Kind.IsRead()
	if o.Kind == kv.ReadPredicate {
		out := "rp " + h.Spell(h.Condition(o))
		if first, last := h.Asked(o); first != 0 || last != 0 {
			out += " of " + h.Spell(first) + " to " + h.Spell(last)
		}
		out += " {"
		list := h.List(o)
		for i := 0; i+1 < len(list); i += 2 {
			if i > 0 {
				out += ", "
			}
			out += h.Spell(list[i]) + " " + h.Spell(list[i+1])
		}
		return out + "}"
	}
	out := o.Kind.String() + " " + h.Spell(h.KeyValue(o.Key))
	switch {
	case unknown:
		return out + " ?"
	case o.Kind == kv.Delete:
		return out
	case o.Kind == kv.ReadList || o.Kind == kv.ReadSet || o.Kind == kv.Versions:
		return out + " [" + spellList(h, h.List(o)) + "]"
	}
	return out + " " + h.Spell(o.Val)
}

func spellList(h *kv.History, list []kv.Value) string {
	const ends = 8
	var words []string
	for i, v := range list {
		if len(list) > 2*ends+1 && i == ends {
			words = append(words, "…")
		}
		if len(list) <= 2*ends+1 || i < ends || i >= len(list)-ends {
			words = append(words, h.Spell(v))
		}
	}
	return strings.Join(words, " ")
}

// sessionOf names the session of a transaction and, where it is known, the node.
func sessionOf(h *kv.History, t int) string {
	s := fmt.Sprintf("session %d", h.SessionName(h.Txn(t).Session))
	if n := h.Node(t); n != "" {
		s += " on " + n
	}
	return s
}

// Describe quotes a transaction: where it stands, its session, its operations.
func Describe(h *kv.History, t int) string {
	var b strings.Builder
	x := h.Txn(t)
	b.WriteString(sessionOf(h, t))
	if p := h.Place(t); p > 0 {
		fmt.Fprintf(&b, ", %s %d", h.PlaceWord(), p)
	}
	if x.Status != kv.OK {
		b.WriteString(", " + x.Status.String())
	}
	b.WriteString(":")
	for i, o := range h.Ops(t) {
		if b.Len() > maxQuoted {
			fmt.Fprintf(&b, ", … (%d operations)", len(h.Ops(t)))
			break
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(" " + quote(h, int32(t), o))
	}
	return b.String()
}

func (e *evidence) report(k model.Kind, key int32, say func() []string, txns ...int32) {
	if e.found.partial && (k == model.Unwritten || k == model.SetLost) {
		return
	}
	g, keep := e.found.add(k)
	if !keep {
		return
	}
	a := Anomaly{Kind: k, Steps: say()}
	if key != none {
		a.Key = e.h.Spell(e.h.KeyValue(key))
	}
	for _, t := range txns {
		a.Txns = append(a.Txns, int(t))
	}
	g.Examples = append(g.Examples, a)
}

func (e *evidence) key(k int32) string { return e.h.Spell(e.h.KeyValue(k)) }

// say formats one sentence, once it is known to be kept.
func say(format string, args ...any) func() []string {
	return func() []string { return []string{fmt.Sprintf(format, args...)} }
}

func (l *lists) incompatible(t int32, o kv.Op) {
	l.report(model.IncompatibleOrder, o.Key, func() []string {
		return []string{fmt.Sprintf("T1 read key %s as [%s], another transaction as [%s]: neither is the start of the other, so one of them saw what never was.",
			l.key(o.Key), spellList(l.h, l.h.List(o)), spellList(l.h, l.order[o.Key]))}
	}, t)
}

func (l *lists) duplicate(k int32, v kv.Value) {
	l.report(model.DuplicateElements, k, say("Key %s was read with element %s standing in it twice.", l.key(k), l.h.Spell(v)))
}

func (l *lists) turned(t int32, o kv.Op) {
	l.report(model.Internal, o.Key, func() []string {
		return []string{fmt.Sprintf("T1 appended %s to key %s after other elements, but the list was read with it before them.", l.h.Spell(o.Val), l.key(o.Key))}
	}, t)
}

func (l *lists) neverWritten(k int32, v kv.Value) {
	l.report(model.Unwritten, k, func() []string {
		return []string{fmt.Sprintf("Key %s was read with element %s, which no transaction of the history appended.", l.key(k), l.h.Spell(v))}
	})
}

func (l *lists) dirtyUpdate(k, failed, v int32) {
	f, w := l.failed[failed], l.versions.writer[v]
	at := l.versions.first[k] + 1
	l.report(model.DirtyUpdate, k, say("T1 failed, yet its element %s stands in key %s before element %s of T2, which committed.",
		l.h.Spell(l.order[k][failed-at]), l.key(k), l.h.Spell(l.order[k][v-at])), f, w)
}

func (e *evidence) lostUpdate(a, b, k int32) {
	e.report(model.LostUpdate, k, say("T1 and T2 both read the same version of key %s and both wrote it: one of the two updates is lost.", e.key(k)), a, b)
}

func (e *evidence) abortedRead(t, w int32, o kv.Op, v kv.Value) {
	e.report(model.G1a, o.Key, func() []string {
		return []string{fmt.Sprintf("T1 read %q; %s was written by T2, which failed.", quote(e.h, t, o), e.h.Spell(v))}
	}, t, w)
}

func (e *evidence) intermediateRead(t, w int32, o kv.Op, v kv.Value) {
	e.report(model.G1b, o.Key, func() []string {
		return []string{fmt.Sprintf("T1 read %q; T2 wrote %s and then wrote key %s once more before it committed.", quote(e.h, t, o), e.h.Spell(v), e.key(o.Key))}
	}, t, w)
}

func (e *evidence) futureRead(t, j int32, o kv.Op, v kv.Value) {
	e.report(model.FutureRead, o.Key, func() []string {
		return []string{fmt.Sprintf("T1 read %q in its operation %d, but wrote %s itself only after that.", quote(e.h, t, o), j+1, e.h.Spell(v))}
	}, t)
}

func (e *evidence) internal(t, j int32, o kv.Op) {
	e.report(model.Internal, o.Key, func() []string {
		return []string{fmt.Sprintf("T1's operation %d, %q, contradicts what it had read and written of key %s before.", j+1, quote(e.h, t, o), e.key(o.Key))}
	}, t)
}

// steps tells a cycle: each edge with the operations that make it.
func (e *evidence) steps(cycle []graph.Edge) []string {
	label := map[int32]string{}
	for i, c := range cycle {
		label[c.From] = fmt.Sprintf("T%d", i+1)
	}
	var out []string
	for i, c := range cycle {
		s := fmt.Sprintf("%s < %s, because %s", label[c.From], label[c.To], e.because(c, label[c.From], label[c.To]))
		switch {
		case len(cycle) > 1 && i == len(cycle)-1:
			s = "However, " + s + ": a contradiction."
		default:
			s += "."
		}
		out = append(out, s)
	}
	return out
}

func (e *evidence) because(c graph.Edge, a, b string) string {
	switch c.Kind {
	case graph.Session:
		return fmt.Sprintf("%s came before %s in session %d", a, b, e.h.SessionName(e.h.Txn(int(c.From)).Session))
	case graph.RealTime:
		return fmt.Sprintf("%s had returned (at %d) before %s was sent (at %d)", a, e.h.Txn(int(c.From)).Return, b, e.h.Txn(int(c.To)).Invoke)
	}
	if why := e.reason(c, a, b); why != "" {
		return why
	}
	return fmt.Sprintf("of a %s dependency", c.Kind)
}

// reason finds the operations that make a data dependency, by the versions that
// both transactions touch.
func (e *evidence) reason(c graph.Edge, a, b string) string {
	if e.explainExtra != nil {
		if why := e.explainExtra(c, a, b); why != "" {
			return why
		}
	}
	x := e.versions
	if x == nil {
		return ""
	}
	done := map[int32]bool{}
	for _, o := range e.h.Ops(int(c.From)) {
		if o.Kind == kv.ReadPredicate || done[o.Key] {
			continue
		}
		done[o.Key] = true
		why := ""
		x.emitKey(o.Key, func(from, to int32, k graph.Kinds, u, v int32) {
			if why != "" || from != c.From || to != c.To || k != c.Kind {
				return
			}
			switch k {
			case graph.WR:
				why = fmt.Sprintf("%s wrote %s, which %s read as %q", a, e.versionName(o.Key, u), b, e.readOf(to, o.Key, u))
			case graph.RW:
				why = fmt.Sprintf("%s read %q, %s, which %s replaced by %s", a, e.readOf(from, o.Key, u), e.versionName(o.Key, u), b, e.versionName(o.Key, v))
			default:
				why = fmt.Sprintf("%s wrote %s, and after it %s wrote %s", a, e.versionName(o.Key, u), b, e.versionName(o.Key, v))
			}
		})
		if why != "" {
			return why
		}
	}
	return ""
}

// versionName names a version by what its writer wrote.
func (e *evidence) versionName(k, v int32) string {
	w := e.versions.writer[v]
	if v == e.versions.first[k] && w == none {
		return "the initial state of key " + e.key(k)
	}
	if e.nameVersion != nil {
		if s := e.nameVersion(k, v); s != "" {
			return fmt.Sprintf("%s (key %s)", s, e.key(k))
		}
	}
	if w == none {
		return "a version of key " + e.key(k)
	}
	last := ""
	for _, o := range e.h.Ops(int(w)) {
		if o.Key == k && !o.Kind.IsRead() {
			last = e.h.Spell(o.Val)
			if o.Kind == kv.Delete {
				last = "nothing"
			}
		}
	}
	return fmt.Sprintf("%s (key %s)", last, e.key(k))
}

// readOf quotes a transaction's read of a version.
func (e *evidence) readOf(t, k, v int32) string {
	for _, o := range e.h.Ops(int(t)) {
		if o.Kind.IsRead() && o.Kind != kv.ReadPredicate && o.Key == k && (e.shows == nil || e.shows(o, v)) {
			return quote(e.h, t, o)
		}
	}
	return "a read of key " + e.key(k)
}

func (r *registers) neverWritten(t int32, o kv.Op) {
	r.report(model.Unwritten, o.Key, func() []string {
		return []string{fmt.Sprintf("T1 read %q, a value that no transaction of the history wrote.", quote(r.h, t, o))}
	}, t)
}

// tellUnorderable reports that there is no order of the writes: with the pair
// of which neither order is possible, if there is one.
func (j *judgement) tellUnorderable(s *solver) {
	e := j.e
	if s.stuck == nil {
		e.report(model.Unorderable, none, say("Every order of the writes that nothing shows leads to a cycle of dependencies; %d dead ends prove it.", s.conflicts))
		return
	}
	p, q := s.chains[s.stuck.p], s.chains[s.stuck.q]
	a, b := e.versions.writer[p.head], e.versions.writer[q.head]
	k := s.keyOf[p.head]
	if e.told[*s.stuck] {
		return // for another model
	}
	if e.told == nil {
		e.told = map[pair]bool{}
	}
	e.told[*s.stuck] = true
	e.report(model.Unorderable, k, func() []string {
		return []string{fmt.Sprintf("T1 and T2 both wrote key %s. ", e.key(k)) +
			"T1 cannot come first: " + s.whyNot(p, q, "T1", "T2") +
			" T2 cannot come first either: " + s.whyNot(q, p, "T2", "T1")}
	}, a, b)
}

// whyNot tells why chain p cannot come before chain q.
func (s *solver) whyNot(p, q chain, a, b string) string {
	x := s.x
	next, w := x.writer[q.head], x.writer[p.tail]
	if path := s.path(s.begin(next), s.commit(w)); path != nil {
		return fmt.Sprintf("%s comes before it anyway (%s).", b, s.tellPath(path))
	}
	for _, r := range x.readers(p.tail) {
		if r == next {
			continue
		}
		if path := s.path(s.commit(next), s.begin(r)); path != nil {
			return fmt.Sprintf("the transaction of %s read what %s wrote, and %s comes before that reader (%s).", Describe(s.d.h, int(r)), a, b, s.tellPath(path))
		}
	}
	return "the orders found for other keys exclude it."
}

// path is a shortest path over all edges, found ones included.
func (s *solver) path(from, to int32) []int32 {
	parent := map[int32]int32{from: from}
	for queue := []int32{from}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		if v == to {
			var out []int32
			for ; v != from; v = parent[v] {
				out = append([]int32{v}, out...)
			}
			return append([]int32{from}, out...)
		}
		s.eachOut(v, func(w int32) {
			if _, ok := parent[w]; !ok {
				parent[w] = v
				queue = append(queue, w)
			}
		})
	}
	return nil
}

func (s *solver) tellPath(path []int32) string {
	var words []string
	last := none
	for _, v := range path {
		if t := s.txn(v); t != last && t < int32(s.d.h.Len()) {
			last = t
			words = append(words, fmt.Sprintf("%s %d", s.d.h.PlaceWord(), s.d.h.Place(int(t))))
		}
	}
	return strings.Join(words, " → ")
}

// Draw turns a cycle into a picture.
func Draw(h *kv.History, a Anomaly) *graph.Drawing {
	d := &graph.Drawing{Title: string(a.Kind) + ": " + model.Meaning(a.Kind)}
	for i, t := range a.Txns {
		node := fmt.Sprintf("T%d  %s, %s %d", i+1, sessionOf(h, t), h.PlaceWord(), h.Place(t))
		for n, o := range h.Ops(t) {
			if n == 12 {
				node += fmt.Sprintf("\n… (%d operations)", len(h.Ops(t)))
				break
			}
			q := []rune(quote(h, int32(t), o))
			if len(q) > 60 {
				q = append(q[:60], '…')
			}
			node += "\n" + string(q)
		}
		d.Nodes = append(d.Nodes, node)
	}
	for i, e := range a.Cycle {
		d.Edges = append(d.Edges, graph.Arrow{From: i, To: (i + 1) % len(d.Nodes), Label: e.Kind.String()})
	}
	return d
}
