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
// order, too: unborn, its initial state, and one change. What a predicate read
// returned, and what it did not, then tells which version of each key it chose
// (Elle calls this a closed universe).
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
	for i := range h.Len() {
		if h.Status(i) == kv.OK {
			p.read(int32(i))
		}
	}
	p.extra = func(edge func(from, to int32, k graph.Kinds)) {
		for k := range p.keys {
			u := &p.keys[k]
			for i := 2; i < len(u.versions) && !u.open; i++ {
				edge(u.versions[i-1].writer, u.versions[i].writer, graph.WW)
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
		if c.Kind == graph.WW {
			return fmt.Sprintf("%s wrote a key's first state, which %s changed", a, b)
		}
		return ""
	}
	return p.evidence
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
	for k := range p.keys {
		u := &p.keys[k]
		changes := len(u.versions) - 1
		if u.born {
			changes--
		}
		if changes > 1 {
			u.open = true
			p.doubt("a key was changed more than once, so the order of its versions is not known")
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
	at := -1
	for i, v := range u.versions {
		// What is not there is what was deleted, if it ever was.
		if o.Val == kv.Nil && !v.there || o.Val != kv.Nil && v.there && v.val == o.Val {
			at = i
		}
	}
	if at <= 0 && o.Val == kv.Nil && u.born {
		if p.perhaps[o.Key] {
			return // it may have been deleted
		}
		// Nobody reads the time before, so that alone is a cycle.
		e := graph.Edge{From: u.versions[1].writer, To: t, Kind: graph.WR}
		p.edges = append(p.edges, e)
		if _, ok := p.why[e]; !ok {
			p.why[e] = "{from} made what was there from the beginning, before {to}"
		}
	}
	if at < 0 {
		p.unknownValue(t, o.Key, o.Val, quote(p.h, t, o))
		return
	}
	if p.later(t, j, o.Key, u.versions[at]) {
		p.futureRead(t, j, o, o.Val)
		return
	}
	q := quote(p.h, t, o)
	p.chose(t, u, at, at, graph.WR, graph.RW, q, o.Key)
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
		e := graph.Edge{From: w, To: t, Kind: wr}
		p.edges = append(p.edges, e)
		p.why[e] = fmt.Sprintf("{from} wrote the state of key %s that {to} relied on in %q", p.key(k), quoted)
	}
	if u.open || last+1 >= len(u.versions) {
		return
	}
	if w := u.versions[last+1].writer; w != t {
		e := graph.Edge{From: t, To: w, Kind: rw}
		p.edges = append(p.edges, e)
		p.why[e] = fmt.Sprintf("{from} read %q, for which key %s was as before {to} changed it", quoted, p.key(k))
	}
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
	for k := range int32(len(p.keys)) {
		u := &p.keys[k]
		val, isShown := shown[k]
		s, isOwn := own[k]
		if isOwn {
			if match := s.there && cond.match(p.h, s.val); match != isShown || match && s.val != val {
				p.report(model.Internal, k, say("T1's operation %d, %q, contradicts what it wrote to key %s itself.", j+1, quoted, p.key(k)), t)
			}
		}
		if isShown {
			if !cond.match(p.h, val) {
				p.report(model.Internal, k, say("T1's operation %d, %q, shows key %s with a value that its condition excludes.", j+1, quoted, p.key(k)), t)
			}
			at := -1
			for i, v := range u.versions {
				if v.there && v.val == val {
					at = i
				}
			}
			if at < 0 {
				p.unknownValue(t, k, val, quoted)
				continue
			}
			if p.later(t, j, k, u.versions[at]) {
				p.futureRead(t, j, o, val)
				continue
			}
			rw := graph.PredicateRW
			if at+1 < len(u.versions) && u.versions[at+1].there && cond.match(p.h, u.versions[at+1].val) {
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
	from := 0
	if u.born {
		from = 1 // nobody reads the time before
	}
	first, last, gaps := -1, -1, false
	for i := from; i < len(u.versions); i++ {
		if u.versions[i].writer == t {
			continue // that comes only behind the read
		}
		if v := u.versions[i]; v.there && cond.match(p.h, v.val) {
			continue
		}
		if first < 0 {
			first = i
		} else if last != i-1 {
			gaps = true
		}
		last = i
	}
	_, perhaps := p.perhaps[k]
	switch {
	case perhaps:
		p.doubt("a predicate read without a key that a transaction of unknown outcome may have changed")
	case first < 0:
		p.report(model.PredicateMiss, k, say("T1 read %q without key %s, which was there all the time and always matched.", quoted, p.key(k)), t)
	case u.open:
	case gaps:
		p.doubt("a predicate read that fits versions with others between them")
	default:
		p.chose(t, u, first, last, graph.PredicateWR, graph.PredicateRW, quoted, k)
	}
}

// condition is what a predicate read asks for.
type condition struct {
	op   string
	a, b string
}

func parseCondition(s string) (condition, bool) {
	f := strings.Fields(s)
	switch {
	case len(f) == 1 && f[0] == "true":
		return condition{op: "true"}, true
	case len(f) == 2 && f[0] == "=":
		return condition{op: "=", a: f[1]}, true
	case len(f) == 3 && f[0] == "mod":
		n, err := strconv.Atoi(f[1])
		_, err2 := strconv.Atoi(f[2])
		return condition{"mod", f[1], f[2]}, err == nil && err2 == nil && n > 0
	}
	return condition{}, false
}

func (c condition) match(h *kv.History, v kv.Value) bool {
	switch c.op {
	case "true":
		return true
	case "=":
		return h.Spell(v) == c.a
	}
	n, _ := strconv.ParseInt(c.a, 10, 64)
	rest, _ := strconv.ParseInt(c.b, 10, 64)
	m := int64(v) % n
	if m < 0 {
		m += n
	}
	return v.IsInt() && m == rest
}
