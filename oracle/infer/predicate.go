package infer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// predicates infers dependencies where all versions of a key are known and their
// order, too: unborn, its initial state, and its changes. What a predicate read
// returned names the version of each key in it; of a key that it did not return it
// chose a version that does not meet the condition. Where these follow one another
// that gives dependencies, where others lie between them a hole: the read comes
// before the first of the others or behind the last.
//
// Adya, Weak Consistency (1999): a predicate read depends on the last transaction
// that changed what meets the condition before the version that it chose
// (predicate-read-depends), and the first to change that afterwards anti-depends on
// it (predicate-anti-depends); G2 and G-single are cycles of these.
type predicates struct {
	*evidence
	keys  []universe
	edges []graph.Edge
	why   map[graph.Edge]string
	// perhaps has the keys that a transaction of unknown outcome may have changed,
	// true for those that it may have deleted: only what is not read would show it.
	perhaps map[int32]bool
}

// universe is the versions of one key, oldest first; the first is that it is
// not there.
type universe struct {
	versions []version
	// born: it was there from the beginning.
	born bool
	// open: its versions have no known order.
	open bool
	// implied: their order holds only if no update was lost.
	implied bool
	// next, by version, is the one behind it, -1 where that is not known; told says
	// that it was seen, not implied. Both are there for keys with several changes only.
	next []int
	told []bool
	at   map[int32]int // the version of each writer
	// begun are the versions with which a trail begins, of writers that deleted nothing.
	begun map[int]bool
}

type version struct {
	val    kv.Value
	there  bool
	writer int32
}

func inferPredicates(h *kv.History, found *anomalies) *evidence {
	p := &predicates{evidence: &evidence{h: h, found: found, committed: make([]bool, h.Len())},
		keys: make([]universe, h.Keys()), why: map[graph.Edge]string{}, perhaps: map[int32]bool{}}
	p.committedWrites()
	p.collect()
	p.arrange()
	for i := range h.Len() {
		if h.Status(i) == kv.OK {
			p.read(int32(i))
		}
	}
	p.extra = func(edge func(from, to int32, k graph.Kinds)) {
		for k := range p.keys {
			u := &p.keys[k]
			for i := range u.versions {
				n, kind := u.behind(i)
				if n < 0 || u.versions[i].writer == none {
					continue
				}
				edge(u.versions[i].writer, u.versions[n].writer, kind)
			}
		}
		for _, e := range p.edges {
			edge(e.From, e.To, e.Kind)
		}
	}
	p.explainExtra = func(c graph.Edge, a, b string) string {
		if s, ok := p.why[c]; ok {
			return strings.NewReplacer("{from}", a, "{to}", b).Replace(s)
		}
		if c.Kind == graph.WW || c.Kind == graph.ImpliedWW {
			return p.whyAfter(c, a, b)
		}
		return ""
	}
	return p.evidence
}

// behind returns the version that is known to follow another one, -1 for none.
func (u *universe) behind(i int) (int, graph.Kinds) {
	switch {
	case u.next == nil && (u.open || i+1 >= len(u.versions)):
		return -1, 0
	case u.next == nil:
		return i + 1, graph.WW
	case u.next[i] >= 0 && !u.told[i]:
		return u.next[i], graph.ImpliedWW
	}
	return u.next[i], graph.WW
}

// whyAfter names the key of which one transaction's version follows another's.
func (p *predicates) whyAfter(c graph.Edge, a, b string) string {
	for k := range int32(len(p.keys)) {
		u := &p.keys[k]
		for i, v := range u.versions {
			if n, kind := u.behind(i); n >= 0 && v.writer == c.From && u.versions[n].writer == c.To && kind == c.Kind {
				if u.next == nil {
					return fmt.Sprintf("%s wrote a key's first state, which %s changed", a, b)
				}
				return fmt.Sprintf("%s wrote %s, and after it %s wrote %s (key %s)",
					a, p.state(v), b, p.state(u.versions[n]), p.key(k))
			}
		}
	}
	return ""
}

// state spells what a version is.
func (p *predicates) state(v version) string {
	if !v.there {
		return "nothing"
	}
	return p.h.Spell(v.val)
}

func writes(k kv.Kind) bool {
	return k == kv.Write || k == kv.Insert || k == kv.Delete || k == kv.Init
}

// committedWrites takes transactions of unknown outcome for committed if a value
// of theirs was read.
func (p *predicates) committedWrites() {
	type write struct {
		key int32
		val kv.Value
	}
	seen := map[write]bool{}
	for i := range p.h.Len() {
		if p.h.Status(i) != kv.OK {
			continue
		}
		p.committed[i] = true
		for _, o := range p.h.Ops(i) {
			if o.Kind == kv.Read {
				seen[write{o.Key, o.Val}] = true
			}
			for _, v := range p.trail(o) {
				seen[write{o.Key, v}] = true
			}
			if o.Kind == kv.ReadPredicate {
				list := p.h.List(o)
				for j := 0; j+1 < len(list); j += 2 {
					seen[write{p.h.KeyOf(list[j]), list[j+1]}] = true
				}
			}
		}
	}
	for i := range p.h.Len() {
		if p.h.Status(i) == kv.Info {
			for _, o := range p.h.Ops(i) {
				if writes(o.Kind) {
					p.perhaps[o.Key] = p.perhaps[o.Key] || o.Kind == kv.Delete
				}
				if writes(o.Kind) && o.Kind != kv.Delete && seen[write{o.Key, o.Val}] {
					p.committed[i] = true
				} else if o.Kind == kv.Delete {
					p.doubt("a deletion of unknown outcome")
				}
			}
			for _, o := range p.h.Ops(i) {
				if writes(o.Kind) && o.Kind != kv.Delete && p.committed[i] {
					delete(p.perhaps, o.Key)
				}
			}
		}
	}
}

func (p *predicates) collect() {
	for k := range p.keys {
		p.keys[k].versions = []version{{writer: none}}
	}
	for i := range p.h.Len() {
		if !p.committed[i] {
			continue
		}
		for _, o := range p.h.Ops(i) {
			if !writes(o.Kind) {
				continue
			}
			u := &p.keys[o.Key]
			v := version{val: o.Val, there: o.Kind != kv.Delete, writer: int32(i)}
			last := &u.versions[len(u.versions)-1]
			switch {
			case o.Kind == kv.Init:
				u.born = true
				u.versions = append(u.versions[:1:1], append([]version{v}, u.versions[1:]...)...)
			case last.writer == int32(i):
				*last = v
			default:
				u.versions = append(u.versions, v)
			}
		}
	}
}

// state is what a transaction itself made of a key.
type state struct {
	val   kv.Value
	there bool
}

func (p *predicates) read(t int32) {
	own := map[int32]state{}
	for j, o := range p.h.Ops(int(t)) {
		switch {
		case writes(o.Kind):
			own[o.Key] = state{o.Val, o.Kind != kv.Delete}
		case o.Kind == kv.Read:
			p.readItem(t, int32(j), o, own)
		case o.Kind == kv.ReadPredicate:
			p.readPredicate(t, int32(j), o, own)
		}
	}
}

func (p *predicates) readItem(t, j int32, o kv.Op, own map[int32]state) {
	if s, ok := own[o.Key]; ok {
		if s.there != (o.Val != kv.Nil) || s.there && s.val != o.Val {
			p.internal(t, j, o)
		}
		return
	}
	u := &p.keys[o.Key]
	q := quote(p.h, t, o)
	if o.Val == kv.Nil {
		p.readNothing(t, u, o.Key, q)
		return
	}
	at := u.find(o.Val)
	if at < 0 {
		p.unknownValue(t, o.Key, o.Val, q)
		return
	}
	if p.later(t, j, o.Key, u.versions[at]) {
		p.futureRead(t, j, o, o.Val)
		return
	}
	p.chose(t, u, at, at, graph.WR, graph.RW, q, o.Key)
}

// readNothing is a read of a key that was not there.
func (p *predicates) readNothing(t int32, u *universe, k int32, quoted string) {
	absent := func(v version) bool { return !v.there }
	first, last, holes := u.candidates(t, absent)
	if first < 0 {
		if p.perhaps[k] {
			return // it may have been deleted
		}
		if u.born {
			// Nobody reads the time before, so that alone is a cycle.
			e := graph.Edge{From: u.versions[1].writer, To: t, Kind: graph.WR}
			if _, ok := p.why[e]; !ok {
				p.edge(e, "{from} made what was there from the beginning, before {to}")
			}
			p.chose(t, u, 0, 0, graph.WR, graph.RW, quoted, k)
		}
		return
	}
	if u.open || p.perhaps[k] { // a deletion of unknown outcome is a doubt already
		return
	}
	p.chose(t, u, first, last, graph.WR, graph.RW, quoted, k)
	p.leaveOpen(t, u, k, holes, graph.RW, quoted)
}

// later tells whether a version that a transaction read is its own and comes only
// behind the read.
func (p *predicates) later(t, j, k int32, v version) bool {
	if v.writer != t {
		return false
	}
	for _, o := range p.h.Ops(int(t))[:j] {
		if writes(o.Kind) && o.Key == k {
			return false
		}
	}
	return true
}

// unknownValue reports a value that no committed transaction wrote.
func (p *predicates) unknownValue(t, k int32, val kv.Value, quoted string) {
	for i := range p.h.Len() {
		for _, o := range p.h.Ops(i) {
			if !writes(o.Kind) || o.Key != k || o.Val != val {
				continue
			}
			if p.committed[i] {
				p.report(model.G1b, k, say("T1 read %q; T2 wrote that and then wrote the key once more.", quoted), t, int32(i))
			} else {
				p.report(model.G1a, k, say("T1 read %q; that was written by T2, which failed.", quoted), t, int32(i))
			}
			return
		}
	}
	p.report(model.Unwritten, k, say("T1 read %q, a value that no transaction of the history wrote.", quoted), t)
}

// chose gives the edges of a read that chose one of the versions from first to
// last.
func (p *predicates) chose(t int32, u *universe, first, last int, wr, rw graph.Kinds, quoted string, k int32) {
	if w := u.versions[first].writer; w != none && w != t {
		if first != last && u.implied {
			wr = graph.ImpliedWW // which versions come first is not seen, either
		}
		p.edge(graph.Edge{From: w, To: t, Kind: wr},
			fmt.Sprintf("{from} wrote the state of key %s that {to} relied on in %q", p.key(k), quoted))
	}
	next, _ := u.behind(last)
	if next < 0 {
		return
	}
	if w := u.versions[next].writer; w != t {
		p.edge(graph.Edge{From: t, To: w, Kind: rw},
			fmt.Sprintf("{from} read %q, for which key %s was as before {to} changed it", quoted, p.key(k)))
	}
}

// edge keeps a dependency and why it is there.
func (p *predicates) edge(e graph.Edge, why string) {
	p.edges = append(p.edges, e)
	p.why[e] = why
}

func (p *predicates) readPredicate(t, j int32, o kv.Op, own map[int32]state) {
	cond, ok := parseCondition(p.h.Spell(p.h.Condition(o)))
	if !ok {
		p.doubt("a condition that is none of true, = VALUE, mod N REST")
		return
	}
	quoted := quote(p.h, t, o)
	shown := map[int32]kv.Value{}
	list := p.h.List(o)
	for i := 0; i+1 < len(list); i += 2 {
		shown[p.h.KeyOf(list[i])] = list[i+1]
	}
	from, to := p.h.Asked(o)
	for k := range int32(len(p.keys)) {
		if key := p.h.KeyValue(k); (from != 0 || to != 0) && (key < from || key > to) {
			continue
		}
		u := &p.keys[k]
		val, isShown := shown[k]
		s, isOwn := own[k]
		if isOwn {
			if match := s.there && cond.match(p.h, s.val); match != isShown || match && s.val != val {
				p.report(model.Internal, k, say("T1's operation %d, %q, contradicts what it wrote to key %s itself.", j+1, quoted, p.key(k)), t)
			}
		}
		if isOwn && isShown && s.val == val {
			continue
		}
		if isShown {
			if !cond.match(p.h, val) {
				p.report(model.Internal, k, say("T1's operation %d, %q, shows key %s with a value that its condition excludes.", j+1, quoted, p.key(k)), t)
			}
			at := u.find(val)
			if at < 0 {
				p.unknownValue(t, k, val, quoted)
				continue
			}
			if p.later(t, j, k, u.versions[at]) {
				p.futureRead(t, j, o, val)
				continue
			}
			rw := graph.PredicateRW
			if n, _ := u.behind(at); n >= 0 && u.versions[n].there && cond.match(p.h, u.versions[n].val) {
				rw = graph.RW
			}
			p.chose(t, u, at, at, graph.WR, rw, quoted, k)
			continue
		}
		if !isOwn { // else its own write is what was not shown
			p.notShown(t, u, k, cond, quoted)
		}
	}
}

// notShown finds which versions of a key a predicate read may have chosen that
// does not show it.
func (p *predicates) notShown(t int32, u *universe, k int32, cond condition, quoted string) {
	unmet := func(v version) bool { return !v.there || !cond.match(p.h, v.val) }
	first, last, holes := u.candidates(t, unmet)
	_, perhaps := p.perhaps[k]
	switch {
	case perhaps:
		p.doubt("a predicate read without a key that a transaction of unknown outcome may have changed")
	case first < 0:
		p.report(model.PredicateMiss, k, say("T1 read %q without key %s, which was there all the time and always matched.", quoted, p.key(k)), t)
	case u.open:
	default:
		p.chose(t, u, first, last, graph.PredicateWR, graph.PredicateRW, quoted, k)
		p.leaveOpen(t, u, k, holes, graph.PredicateRW, quoted)
	}
}

// condition is what a predicate read asks for.
type condition struct {
	op   string
	text string // of =
	n    int64  // of mod: the divisor, and what it leaves
	rest int64
}

func parseCondition(s string) (condition, bool) {
	f := strings.Fields(s)
	switch {
	case len(f) == 1 && f[0] == "true":
		return condition{op: "true"}, true
	case len(f) == 2 && f[0] == "=":
		return condition{op: "=", text: f[1]}, true
	case len(f) == 3 && f[0] == "mod":
		n, err := strconv.ParseInt(f[1], 10, 64)
		rest, err2 := strconv.ParseInt(f[2], 10, 64)
		return condition{op: "mod", n: n, rest: rest}, err == nil && err2 == nil && n > 0
	}
	return condition{}, false
}

func (c condition) match(h *kv.History, v kv.Value) bool {
	switch c.op {
	case "true":
		return true
	case "=":
		return h.Spell(v) == c.text
	}
	m := int64(v) % c.n
	if m < 0 {
		m += c.n
	}
	return v.IsInt() && m == c.rest
}
