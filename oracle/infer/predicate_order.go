package infer

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// follows says that the version of one writer of a key comes right behind that of
// another one.
type follows struct {
	pred int // a version
	told bool
}

// find returns the version with a value, -1 for none.
func (u *universe) find(val kv.Value) int {
	for i := len(u.versions) - 1; i >= 0; i-- {
		if v := u.versions[i]; v.there && v.val == val {
			return i
		}
	}
	return -1
}

// first is the version with which a key begins: nobody reads the time before.
func (u *universe) first() int {
	if u.born {
		return 1
	}
	return 0
}

// trail returns the values that an operation saw a key have one after the other.
func (p *predicates) trail(o kv.Op) []kv.Value {
	if o.Kind != kv.Versions {
		return nil
	}
	return p.h.List(o)
}

// arrange puts the versions of keys that were changed more than once in their order.
//
// What a row itself kept of its values tells which version a write replaced. Where it
// does not, a transaction that read a version and then wrote the key replaced that
// version, unless an update was lost. What begins anew, because nothing was there
// before, can only come behind the first row of versions if it is alone.
func (p *predicates) arrange() {
	several := p.h.Holds(kv.Versions)
	for k := range p.keys {
		u := &p.keys[k]
		changes := len(u.versions) - 1
		if u.born {
			changes--
		}
		if changes < 2 {
			continue
		}
		several = true
		u.at = make(map[int32]int, len(u.versions))
		for i, v := range u.versions {
			if v.writer != none {
				u.at[v.writer] = i
			}
		}
	}
	if !several {
		return
	}
	links := p.told()
	p.implied(links)
	for k := range p.keys {
		if p.keys[k].at != nil {
			p.chain(int32(k), links[k])
		}
	}
}

// told finds what trails tell. They also show what never should have been there.
func (p *predicates) told() []map[int]follows {
	links := make([]map[int]follows, len(p.keys))
	for k := range p.keys {
		if u := &p.keys[k]; u.at != nil {
			links[k], u.begun = map[int]follows{}, map[int]bool{}
		}
	}
	if !p.h.Holds(kv.Versions) {
		return links
	}
	writers := map[int32]map[kv.Value]int32{}
	for i := range p.h.Len() {
		for _, o := range p.h.Ops(i) {
			if writes(o.Kind) && o.Kind != kv.Delete {
				if writers[o.Key] == nil {
					writers[o.Key] = map[kv.Value]int32{}
				}
				writers[o.Key][o.Val] = int32(i)
			}
		}
	}
	for i := range p.h.Len() {
		if p.h.Status(i) != kv.OK {
			continue
		}
		for _, o := range p.h.Ops(i) {
			p.follow(int32(i), o, writers[o.Key], links)
		}
	}
	return links
}

func (p *predicates) follow(t int32, o kv.Op, writers map[kv.Value]int32, links []map[int]follows) {
	u := &p.keys[o.Key]
	before := none
	for n, v := range p.trail(o) {
		w, ok := writers[v]
		if !ok {
			p.unknownValue(t, o.Key, v, quote(p.h, t, o))
			before = none
			continue
		}
		if !p.committed[w] {
			p.dirty(t, w, o, v, n)
			before = none
			continue
		}
		if u.at != nil && n == 0 && !p.deletes(w, o.Key) {
			u.begun[u.at[w]] = true
		}
		if before != none && before != w && u.at != nil {
			links[o.Key][u.at[w]] = follows{u.at[before], true}
		}
		before = w
	}
}

func (p *predicates) deletes(t, k int32) bool {
	return slices.ContainsFunc(p.h.Ops(int(t)), func(o kv.Op) bool { return o.Kind == kv.Delete && o.Key == k })
}

// dirty reports a value of a failed transaction, or an undone one, in a trail.
func (p *predicates) dirty(t, w int32, o kv.Op, v kv.Value, n int) {
	list := p.trail(o)
	if n+1 == len(list) {
		p.abortedRead(t, w, o, v)
		return
	}
	p.report(model.DirtyUpdate, o.Key, say("T1 failed, yet its value %s stands in key %s before value %s, as T2 read.",
		p.h.Spell(v), p.key(o.Key), p.h.Spell(list[n+1])), w, t)
}

// implied finds what reads before writes tell, where nothing else does.
func (p *predicates) implied(links []map[int]follows) {
	read := map[int32]int{} // by key: the version that a transaction read last
	for i := range p.h.Len() {
		if p.h.Status(i) != kv.OK {
			continue
		}
		clear(read)
		for _, o := range p.h.Ops(i) {
			u := &p.keys[o.Key]
			switch {
			case o.Kind == kv.ReadPredicate:
				list := p.h.List(o)
				for j := 0; j+1 < len(list); j += 2 {
					p.readLast(read, p.h.KeyOf(list[j]), list[j+1])
				}
			case o.Kind == kv.Read:
				p.readLast(read, o.Key, o.Val)
			case writes(o.Kind) && u.at != nil:
				own := u.at[int32(i)]
				_, known := links[o.Key][own]
				switch v, ok := read[o.Key]; {
				case !ok || v < 0 || v == own:
				case !known:
					links[o.Key][own] = follows{v, false}
				case links[o.Key][own].told && links[o.Key][own].pred != v:
					p.overwrote(int32(i), o.Key, u.versions[v], u.versions[links[o.Key][own].pred])
				}
				read[o.Key] = ownVersion
			}
		}
	}
}

// ownVersion stands for what a transaction itself wrote.
const ownVersion = -2

// overwrote reports a transaction that replaced another version than it had read.
func (p *predicates) overwrote(t, k int32, read, replaced version) {
	if replaced.writer == none || replaced.writer == t {
		return
	}
	p.report(model.LostUpdate, k, say("T1 read %s of key %s and then wrote the key, but replaced %s, "+
		"which T2 had written: one of the two updates is lost.",
		p.state(read), p.key(k), p.state(replaced)), t, replaced.writer)
}

func (p *predicates) readLast(read map[int32]int, k int32, val kv.Value) {
	u := &p.keys[k]
	if v, ok := read[k]; u.at == nil || ok && v == ownVersion {
		return
	}
	read[k] = -1
	if val != kv.Nil {
		read[k] = u.find(val)
		return
	}
	n := 0
	for i := u.first(); i < len(u.versions); i++ {
		if !u.versions[i].there {
			n++
			read[k] = i
		}
	}
	if n != 1 {
		read[k] = -1
	}
}

// chain lays the versions of a key one behind the other.
func (p *predicates) chain(k int32, links map[int]follows) {
	u := &p.keys[k]
	n := len(u.versions)
	next, told := make([]int, n), make([]bool, n)
	for i := range next {
		next[i] = -1
	}
	begins := make([]bool, n)
	p.afterNothing(u, links)
	for _, seen := range []bool{true, false} {
		for v := u.first() + 1; v < n; v++ {
			l, ok := links[v]
			switch {
			case !ok || l.pred < u.first():
				begins[v] = true
			case l.told != seen:
			case next[l.pred] < 0:
				next[l.pred], told[l.pred] = v, l.told
				u.implied = u.implied || !l.told
			default:
				begins[v] = true
				p.rivals(k, u, next[l.pred], v, told[l.pred], l.told)
			}
		}
	}
	order := u.row(u.first(), next)
	var rest []int
	for v := range begins {
		if begins[v] {
			rest = append(rest, v)
		}
	}
	if len(rest) == 1 {
		last := order[len(order)-1]
		next[last], told[last] = rest[0], !u.implied
		order = append(order, u.row(rest[0], next)...)
	}
	u.next, u.told = next, told
	if len(order) != n-u.first() {
		u.open = true // a circle, or several rows of versions
	}
	if u.open {
		p.doubt("a key was changed more than once, and the order of its versions is not known")
		return
	}
	p.sort(u, order)
}

// afterNothing links what begins a trail, though its transaction deleted nothing, to
// the one time that the key was not there.
func (p *predicates) afterNothing(u *universe, links map[int]follows) {
	gone, n := 0, 0
	for i := u.first(); i < len(u.versions); i++ {
		if !u.versions[i].there {
			gone, n = i, n+1
		}
	}
	for v := range u.begun {
		if n == 1 && v > u.first() {
			links[v] = follows{gone, true}
		}
	}
}

// rivals are two versions that replaced the same one, as it seems.
func (p *predicates) rivals(k int32, u *universe, a, b int, aTold, bTold bool) {
	t1, t2 := u.versions[a].writer, u.versions[b].writer
	switch {
	case !aTold:
		p.lostUpdate(t1, t2, k)
	case bTold:
		p.report(model.IncompatibleOrder, k, say("Key %s was read with %s, which T1 wrote, and with %s, which T2 wrote, "+
			"right behind the same value.",
			p.key(k), p.state(u.versions[a]), p.state(u.versions[b])), t1, t2)
	}
	// Otherwise the second read what the first replaced, which is a dependency.
}

// row follows the versions from one on.
func (u *universe) row(v int, next []int) []int {
	out := []int{v}
	for next[v] >= 0 && len(out) <= len(next) {
		v = next[v]
		out = append(out, v)
	}
	return out
}

// sort puts the versions into the order that was found.
func (p *predicates) sort(u *universe, order []int) {
	versions, next, told := u.versions[:u.first():u.first()], make([]int, len(u.versions)), make([]bool, len(u.versions))
	for i := range u.first() {
		next[i], told[i] = i+1, true
	}
	for _, v := range order {
		i := len(versions)
		versions = append(versions, u.versions[v])
		next[i], told[i] = i+1, u.told[v]
	}
	next[len(next)-1] = -1
	u.versions, u.next, u.told = versions, next, told
}

// candidates returns the first and the last version that a read of a transaction may
// have chosen, -1 if there is none, and the versions between them that it cannot have
// chosen. What the transaction itself wrote later, and what came after that, it had
// not met yet.
func (u *universe) candidates(t int32, is func(version) bool) (first, last int, holes []span) {
	first, last = -1, -1
	for i := u.first(); i < len(u.versions); i++ {
		if u.versions[i].writer == t {
			if u.open {
				continue
			}
			break
		}
		if !is(u.versions[i]) {
			continue
		}
		if first < 0 {
			first = i
		} else if last != i-1 {
			holes = append(holes, span{last + 1, i})
		}
		last = i
	}
	return first, last, holes
}

// span is the versions from one on, and the first behind them.
type span struct{ from, to int }

// leaveOpen keeps the holes of a read for the search.
func (p *predicates) leaveOpen(t int32, u *universe, k int32, holes []span, rw graph.Kinds, quoted string) {
	for _, s := range holes {
		p.holes = append(p.holes, hole{
			reader: t, before: u.versions[s.from].writer, after: u.versions[s.to].writer, key: k, rw: rw,
		})
	}
}
