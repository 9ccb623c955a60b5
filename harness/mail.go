package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness/direct"
)

// mail carries statements to the sessions of one worker and answers back.
type mail interface {
	// join is called once for each new session.
	join(s *connection) error
	// leave is called before a session is closed.
	leave(s *connection)
	// send submits a statement of a session that has none outstanding. Another way than text is for a session that is
	// Preparing.
	send(s *connection, sql string, way protocol.Way)
	// receive waits for an answer, for a token of wake, or until d is over; ok
	// says that it is an answer. Errors are those of ctx.
	receive(ctx context.Context, d time.Duration, wake <-chan struct{}) (a answer, ok bool, err error)
	// take returns an answer that has come in; it does not wait.
	take() (a answer, ok bool)
	// putBack undoes the receipt of an answer.
	putBack(a answer)
	close() error
}

// newMail returns what suits sessions like s.
func newMail(s *connection) (mail, error) {
	if s.polled != nil {
		return newBox()
	}
	return newCouriers()
}

// couriers serves each session by a goroutine of its own: for those that are not Polled.
type couriers struct {
	answers chan answer
	alarm   *alarm
}

func newCouriers() (*couriers, error) {
	a, err := newAlarm()
	if err != nil {
		return nil, err
	}
	return &couriers{answers: make(chan answer, maxSessions), alarm: a}, nil
}

func (c *couriers) join(s *connection) error {
	s.queries, s.ended = make(chan query, 1), make(chan struct{})
	go func() {
		defer close(s.ended)
		for q := range s.queries {
			r, err := s.executeBy(q)
			c.answers <- answer{s, r, err}
		}
	}()
	return nil
}

func (c *couriers) leave(s *connection) {
	close(s.queries)
	<-s.ended
}

func (c *couriers) send(s *connection, sql string, way protocol.Way) { s.queries <- query{sql, way} }

func (c *couriers) receive(ctx context.Context, d time.Duration, wake <-chan struct{}) (answer, bool, error) {
	c.alarm.set(d)
	defer c.alarm.stop()
	select {
	case a := <-c.answers:
		return a, true, nil
	case <-wake:
	case <-c.alarm.C:
	case <-ctx.Done():
		return answer{}, false, fmt.Errorf("run a case: %w", ctx.Err())
	}
	return answer{}, false, nil
}

func (c *couriers) take() (answer, bool) {
	select {
	case a := <-c.answers:
		return a, true
	default:
		return answer{}, false
	}
}

func (c *couriers) putBack(a answer) { c.answers <- a }

func (c *couriers) close() error { return c.alarm.close() }

// box is one place where the answers of all sessions come in: the worker itself
// waits for their sockets.
type box struct {
	set      *direct.Set
	sessions map[*direct.Conn]*connection
	in       []answer // come in and not received
}

func newBox() (*box, error) {
	set, err := direct.NewSet()
	if err != nil {
		return nil, err
	}
	return &box{set: set, sessions: map[*direct.Conn]*connection{}}, nil
}

func (b *box) join(s *connection) error {
	if s.polled == nil {
		return fmt.Errorf("session %d cannot be waited for, unlike the first of its server", s.number)
	}
	b.sessions[s.polled.Socket()] = s
	return b.set.Add(s.polled.Socket())
}

func (b *box) leave(s *connection) {
	b.set.Remove(s.polled.Socket())
	delete(b.sessions, s.polled.Socket())
}

func (b *box) send(s *connection, sql string, way protocol.Way) {
	s.asked = true
	if err := s.sendBy(sql, way); err != nil {
		b.answered(s, Reply{}, err)
	}
}

func (b *box) answered(s *connection, r Reply, err error) {
	s.asked = false
	b.in = append(b.in, answer{s, r, err})
}

// notice is how soon the end of a context shows while nothing else comes about.
const notice = 20 * time.Millisecond

func (b *box) receive(ctx context.Context, d time.Duration, _ <-chan struct{}) (answer, bool, error) {
	for {
		if a, ok := b.next(); ok {
			return a, true, nil
		}
		step := min(d, notice)
		if err := b.collect(step); err != nil {
			return answer{}, false, err
		}
		if len(b.in) > 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return answer{}, false, fmt.Errorf("run a case: %w", err)
		}
		// A wait ends early at the socket of which part of an answer came in.
		if d -= step; d <= 0 {
			return answer{}, false, nil
		}
	}
}

func (b *box) take() (answer, bool) {
	if len(b.in) == 0 {
		_ = b.collect(0)
	}
	return b.next()
}

func (b *box) next() (answer, bool) {
	if len(b.in) == 0 {
		return answer{}, false
	}
	a := b.in[0]
	b.in = b.in[1:]
	return a, true
}

// collect waits for one socket, at most d, and reads what it has.
func (b *box) collect(d time.Duration) error {
	c, err := b.set.Wait(d)
	if err != nil {
		return fmt.Errorf("wait for an answer: %w", err)
	}
	s := b.sessions[c]
	if s == nil || !s.asked { // what a connection without a statement says shows at its next one
		return nil
	}
	if r, done, err := s.polled.Receive(); done || err != nil {
		b.answered(s, r, err)
	}
	return nil
}

func (b *box) putBack(a answer) { b.in = append(b.in, a) }

func (b *box) close() error { return b.set.Close() }
