package infer

import (
	"fmt"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// inferBank tests what transfers between accounts must keep: every read of all
// accounts adds up to the same total, and no account is below zero. It can
// refute a model and never proves one.
func inferBank(h *kv.History, found *anomalies) *evidence {
	e := &evidence{h: h, found: found, committed: make([]bool, h.Len()), invariantOnly: true}
	total, accounts, known := int64(0), 0, false
	if h.Header.Total != nil {
		total, known = *h.Header.Total, true
	}
	// A read of fewer accounts than others show is no read of all.
	for i := range h.Len() {
		accounts = max(accounts, e.reads(i))
	}
	for i := range h.Len() {
		e.committed[i] = h.Status(i) == kv.OK
		if !e.committed[i] || e.reads(i) < accounts || accounts == 0 {
			continue
		}
		sum := int64(0)
		for _, o := range h.Ops(i) {
			if o.Kind != kv.Read || !o.Val.IsInt() {
				continue
			}
			sum += int64(o.Val)
			if o.Val < 0 && !h.Header.NegativeBalances {
				e.report(model.NegativeBalance, o.Key, say("T1 read account %s as %d.", e.key(o.Key), int64(o.Val)), int32(i))
			}
		}
		if !known {
			total, known = sum, true
		}
		if sum != total {
			e.report(model.WrongTotal, none, say("T1 read accounts that add up to %d; the total is %d.", sum, total), int32(i))
		}
	}
	return e
}

// reads counts the balances that a transaction read.
func (e *evidence) reads(i int) int {
	n := 0
	if e.h.Status(i) == kv.OK {
		for _, o := range e.h.Ops(i) {
			if o.Kind == kv.Read && o.Val.IsInt() {
				n++
			}
		}
	}
	return n
}

// sets infers dependencies of sets to which elements are only added: a read
// comes after the additions that it shows and before those that it does not.
type sets struct {
	*evidence
	adders map[setElement]int32
	failed map[setElement]int32
}

type setElement struct {
	key int32
	val kv.Value
}

func inferSets(h *kv.History, found *anomalies) *evidence {
	s := &sets{evidence: &evidence{h: h, found: found, committed: make([]bool, h.Len())},
		adders: map[setElement]int32{}, failed: map[setElement]int32{}}
	for i := range h.Len() {
		status := h.Status(i)
		s.committed[i] = status == kv.OK
		for _, o := range h.Ops(i) {
			if o.Kind != kv.Add {
				continue
			}
			el := setElement{o.Key, o.Val}
			if status == kv.Fail {
				s.failed[el] = int32(i)
			} else if was, ok := s.adders[el]; ok && was != int32(i) {
				s.doubt("an element was added more than once")
			} else {
				s.adders[el] = int32(i)
			}
		}
	}
	s.look()
	s.extra = s.edges
	s.explainExtra = s.why
	return s.evidence
}

// look reports what single reads show, and which additions are lost.
func (s *sets) look() {
	lastSeen := map[setElement]int64{} // the latest read that showed it
	lastRead := map[int32]int64{}      // by key: the latest read, by the time at which it was sent
	lastTxn := map[int32]int32{}
	for i := range s.h.Len() {
		if s.h.Status(i) != kv.OK {
			continue
		}
		t := int32(i)
		own := map[setElement]bool{}
		for j, o := range s.h.Ops(i) {
			if o.Kind == kv.Add {
				own[setElement{o.Key, o.Val}] = true
			}
			if o.Kind != kv.ReadSet {
				continue
			}
			at := s.sent(i)
			if was, ok := lastRead[o.Key]; !ok || at >= was {
				lastRead[o.Key], lastTxn[o.Key] = at, t
			}
			seen := map[kv.Value]bool{}
			for _, v := range s.h.List(o) {
				el := setElement{o.Key, v}
				if seen[v] {
					s.report(model.SetDuplicate, o.Key, say("T1 read set %s with element %s in it twice.", s.key(o.Key), s.h.Spell(v)), t)
				}
				seen[v] = true
				lastSeen[el] = max(lastSeen[el], at)
				if a, ok := s.adders[el]; ok && a == t && !own[el] {
					s.futureRead(t, int32(j), o, v)
				} else if ok {
					s.committed[a] = true
				} else if f, ok := s.failed[el]; ok {
					s.report(model.G1a, o.Key, say("T1 read set %s with element %s, which T2 added; T2 failed.", s.key(o.Key), s.h.Spell(v)), t, f)
				} else {
					s.report(model.Unwritten, o.Key, say("T1 read set %s with element %s, which nobody added.", s.key(o.Key), s.h.Spell(v)), t)
				}
			}
			for el := range own {
				if el.key == o.Key && !seen[el.val] {
					s.internal(t, int32(j), o)
					break
				}
			}
		}
	}
	for i := range s.h.Len() {
		x := s.h.Txn(i)
		if x.Status != kv.OK {
			continue
		}
		for _, o := range s.h.Ops(i) {
			if o.Kind != kv.Add {
				continue
			}
			last, read := lastRead[o.Key]
			_, seen := lastSeen[setElement{o.Key, o.Val}]
			acknowledged := int64(i)
			if x.Return != kv.Unknown {
				acknowledged = x.Return
			}
			if read && !seen && last > acknowledged {
				s.report(model.SetLost, o.Key, say("T1 added %s to set %s and was acknowledged; no read shows it, not even the last one, by T2.", s.h.Spell(o.Val), s.key(o.Key)), int32(i), lastTxn[o.Key])
			}
		}
	}
}

// sent is when a transaction was sent; without times its place.
func (s *sets) sent(i int) int64 {
	if x := s.h.Txn(i); x.Invoke != kv.Unknown {
		return x.Invoke
	}
	return int64(i)
}

func (s *sets) edges(edge func(from, to int32, k graph.Kinds)) {
	byKey := map[int32][]setElement{}
	for el, t := range s.adders {
		if s.committed[t] {
			byKey[el.key] = append(byKey[el.key], el)
		}
	}
	for i := range s.h.Len() {
		if s.h.Status(i) != kv.OK {
			continue
		}
		for _, o := range s.h.Ops(i) {
			if o.Kind != kv.ReadSet {
				continue
			}
			seen := map[kv.Value]bool{}
			for _, v := range s.h.List(o) {
				seen[v] = true
			}
			for _, el := range byKey[o.Key] {
				if a := s.adders[el]; seen[el.val] {
					edge(a, int32(i), graph.WR)
				} else {
					edge(int32(i), a, graph.RW)
				}
			}
		}
	}
}

func (s *sets) why(c graph.Edge, a, b string) string {
	adder, reader := c.From, c.To
	if c.Kind == graph.RW {
		adder, reader = c.To, c.From
	}
	for _, o := range s.h.Ops(int(adder)) {
		if o.Kind != kv.Add {
			continue
		}
		for _, r := range s.h.Ops(int(reader)) {
			if r.Kind != kv.ReadSet || r.Key != o.Key {
				continue
			}
			seen := false
			for _, v := range s.h.List(r) {
				seen = seen || v == o.Val
			}
			switch {
			case seen && c.Kind == graph.WR:
				return fmt.Sprintf("%s added %s to set %s, which %s saw in it", a, s.h.Spell(o.Val), s.key(o.Key), b)
			case !seen && c.Kind == graph.RW:
				return fmt.Sprintf("%s read set %s without %s, which %s added", a, s.key(o.Key), s.h.Spell(o.Val), b)
			}
		}
	}
	return ""
}
