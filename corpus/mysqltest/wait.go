package mysqltest

import (
	"fmt"
	"slices"
)

// waitEnds returns the place of the event before which a statement has given up: that with which another session would
// let it go, or the first behind its answer.
func (b *builder) waitEnds(i int) int {
	answered := min(b.list[i].reaped-b.from, len(b.list))
	for j := i + 1; j < answered; j++ {
		s := &b.list[j]
		frees := s.ends || s.phrase.begins("commit") || s.phrase.begins("rollback") && !s.phrase.has("to")
		if frees && s.conn != b.list[i].conn {
			return j
		}
	}
	return answered
}

// timesOut reports whether a statement waits until it fails, and can fail in no other way.
func (s *statement) timesOut() bool {
	return !s.phrase.has("nowait") && !slices.ContainsFunc(s.errors, func(code string) bool {
		return code != "ER_LOCK_WAIT_TIMEOUT" && code != "1205"
	})
}

// endWaits ends, before an event, the waits that mysqltest sees to end by the timeout: the case need not wait so long,
// and its other sessions would not.
func (b *builder) endWaits(i int) {
	for _, victim := range b.kills[i] {
		killer := b.next(i, victim)
		if killer == 0 {
			continue // nobody has anything left to send: the harness ends the wait
		}
		if no := b.begins(killer); no != nil {
			continue
		}
		sql := fmt.Sprintf("KILL QUERY tx%d", b.session[victim])
		_ = b.append(-1, killer, sql, "in place of the timeout") // the text is of this file
	}
}

// next returns the connection that speaks next beside one, and does not wait itself, 0 for none.
func (b *builder) next(i, victim int) int {
	for j := i; j < len(b.list); j++ {
		s := &b.list[j]
		if s.conn == victim || s.ends || s.role != kept || b.pointless(j, s) {
			continue
		}
		waits := slices.ContainsFunc(b.list[:i], func(o statement) bool {
			return o.conn == s.conn && o.sent && o.reaped-b.from > i
		})
		if !waits {
			return s.conn
		}
	}
	return 0
}
