package notify

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// The kinds of differences.
const (
	lost       = "lost-notification"
	phantom    = "phantom-notification"
	early      = "early-notification"
	misordered = "misordered-notification"
)

// Check returns a difference of a history, nil for none.
func Check(c *corpus.Case, h *history.History) *history.Difference {
	about := func(l corpus.Line) bool { return stmt.KindOf(l.Stmt).OfNotifications() }
	if h.End != history.Complete || !slices.ContainsFunc(c.Steps, about) {
		return nil
	}
	r := read(c, h)
	if r.lost {
		return nil
	}
	if r.prepared >= 0 {
		return &history.Difference{Stmt: r.prepared, Kind: "missing-error", Expected: "SQLSTATE 0A000", Actual: "ok",
			Reason: "a transaction that has listened or notified cannot be prepared"}
	}
	o := order{r: r, after: map[*sent][]*sent{}}
	for _, listener := range c.Sessions() {
		got := r.got(listener)
		for _, d := range got {
			if d.Stmt >= 0 && r.inside[d.Stmt] {
				return &history.Difference{Stmt: d.Stmt, Kind: early, Expected: "no notification", Actual: d.String(),
					Reason: "a session that is in a transaction gets notifications when that has ended"}
			}
		}
		for _, sender := range append(c.Sessions(), 0) {
			if d := r.between(sender, listener, got); d != nil {
				return d
			}
		}
		o.add(got)
	}
	return o.check()
}

// delivery is a notification that a session got, by the answer that came in at a time.
type delivery struct {
	history.Notification
	at history.Tick
}

// got returns what a session got, in order.
func (r *reader) got(listener int) (out []delivery) {
	for _, n := range r.h.Notifications {
		if n.Session != listener {
			continue
		}
		d := delivery{n, never}
		if n.Stmt >= 0 {
			d.at = r.h.Stmts[n.Stmt].Return
		}
		out = append(out, d)
	}
	return out
}

// item is a notification of a transaction that a session had to get, or may have got.
type item struct {
	note
	of  *sent
	due bool
}

// between judges what one session got of another.
func (r *reader) between(sender, listener int, all []delivery) *history.Difference {
	var items []item
	for _, t := range r.sent {
		if t.session == sender {
			for _, n := range t.notes {
				items = append(items, item{n, t, !n.again && !t.unsure && r.due(t, n.channel, listener)})
			}
		}
	}
	var got []delivery
	for _, d := range all {
		if d.Sender == sender {
			got = append(got, d)
		}
	}
	if r.explains(items, got, listener) {
		return nil
	}
	for k, d := range got {
		same := func(e delivery) bool { return e.Channel == d.Channel && e.Payload == d.Payload }
		may := 0
		for _, x := range items {
			if r.may(x, d, listener) {
				may++
			}
		}
		came := 0
		for _, e := range got[:k+1] {
			if same(e) {
				came++
			}
		}
		if came > may {
			return &history.Difference{Stmt: r.statementOf(d), Kind: phantom, Expected: "no such notification", Actual: d.String(),
				Reason: fmt.Sprintf(
					"of those like it tx%d has got all that committed transactions sent while it listened", listener)}
		}
	}
	for _, x := range items {
		must, came := 0, 0
		for _, y := range items {
			if y.due && y.channel == x.channel && y.payload == x.payload {
				must++
			}
		}
		for _, d := range got {
			if d.Channel == x.channel && d.Payload == x.payload {
				came++
			}
		}
		if came < must {
			return &history.Difference{Stmt: x.of.stmt, Kind: lost, Actual: "none", Expected: history.Notification{
				Channel: x.channel, Payload: x.payload, Sender: sender}.String() + fmt.Sprintf(" for tx%d", listener),
				Reason: fmt.Sprintf("tx%d listened when the transaction was committed, and has not got its notification", listener)}
		}
	}
	return &history.Difference{Stmt: r.statementOf(got[0]), Kind: misordered, Expected: texts(items), Actual: texts(got),
		Reason: "notifications come in the order of the commits, those of a transaction in the order of its statements"}
}

func texts[T fmt.Stringer](all []T) string { return fmt.Sprint(all) }

// String prints a notification without its sender.
func (x item) String() string { return x.channel + " '" + x.payload + "'" }

// statementOf is the statement with whose answer a notification came, or else the last one of the session.
func (r *reader) statementOf(d delivery) int {
	at := d.Stmt
	for i := range r.h.Stmts {
		if d.Stmt < 0 && r.h.Stmts[i].Session == d.Session {
			at = i
		}
	}
	return at
}

// due reports whether a session had to get a notification of a transaction: it listened all the time from before the
// COMMIT until it had an answer outside of a transaction to what was sent behind that.
func (r *reader) due(t *sent, channel string, listener int) bool {
	until := never - 1
	if k := slices.IndexFunc(r.idle[listener], func(st *history.Stmt) bool { return st.Submit > t.to }); k >= 0 {
		until = r.idle[listener][k].Return
	}
	return slices.ContainsFunc(r.heard, func(x *hearing) bool {
		return x.session == listener && x.channel == channel && x.has < t.from && x.gives > until
	})
}

// may reports whether a session may have got a notification where it did. A session that listens for another channel
// reads on from where it is: what it comes across after its LISTEN may have been committed before.
func (r *reader) may(x item, d delivery, listener int) bool {
	if x.channel != d.Channel || x.payload != d.Payload || x.of.from >= d.at {
		return false
	}
	return slices.ContainsFunc(r.heard, func(l *hearing) bool {
		return l.session == listener && l.channel == x.channel && l.taken < d.at && l.gone > x.of.from &&
			(l.taken < x.of.to || slices.ContainsFunc(r.heard, func(o *hearing) bool {
				return o != l && o.session == listener && o.taken < x.of.to
			}))
	})
}

// explains reports whether a session may have got these notifications, in their order, of all that was sent to it.
func (r *reader) explains(items []item, got []delivery, listener int) bool {
	reached := make([]bool, len(got)+1) // so many, by the items so far
	reached[0] = true
	for _, x := range items {
		for n := len(got); n >= 0; n-- {
			reached[n] = reached[n] && !x.due || n > 0 && reached[n-1] && r.may(x, got[n-1], listener)
		}
	}
	return reached[len(got)]
}
