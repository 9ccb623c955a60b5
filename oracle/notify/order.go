package notify

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// order holds which transactions were committed before which, as the sessions saw it.
type order struct {
	r     *reader
	after map[*sent][]*sent
	// last is the last notification that came behind one of another transaction.
	last *delivery
}

// of returns the only transaction that has sent a notification, nil if there are several.
func (o *order) of(n history.Notification) *sent {
	var found *sent
	for _, t := range o.r.sent {
		same := func(x note) bool { return x.channel == n.Channel && x.payload == n.Payload }
		if t.session != n.Sender || !slices.ContainsFunc(t.notes, same) {
			continue
		}
		if found != nil {
			return nil
		}
		found = t
	}
	return found
}

// add notes the order in which a session got notifications.
func (o *order) add(got []delivery) {
	var before *sent
	for i := range got {
		t := o.of(got[i].Notification)
		if t == nil {
			continue
		}
		if before != nil && before != t {
			o.after[before] = append(o.after[before], t)
			o.last = &got[i]
		}
		before = t
	}
}

// check looks for a circle in what the sessions saw and in time.
func (o *order) check() *history.Difference {
	if o.last == nil {
		return nil
	}
	const path, done = 1, 2
	state := map[*sent]int{}
	var circle func(t *sent) bool
	circle = func(t *sent) bool {
		if state[t] > 0 {
			return state[t] == path
		}
		state[t] = path
		for _, u := range o.r.sent {
			if (t.to < u.from || slices.Contains(o.after[t], u)) && circle(u) {
				return true
			}
		}
		state[t] = done
		return false
	}
	for _, t := range o.r.sent {
		if circle(t) {
			return &history.Difference{Stmt: o.r.statementOf(*o.last), Kind: misordered, Expected: "the order of the commits",
				Actual: "another order at some session",
				Reason: "notifications come in the order of the commits, everywhere in the same"}
		}
	}
	return nil
}
