package load

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/harness"
)

// preparer is a conn that can send statements prepared. asText says that the server cannot prepare one, so that its
// text was sent.
type preparer interface {
	conn
	changeBy(way protocol.Way, q string) (n int64, asText bool, err error)
	queryBy(way protocol.Way, q string, into *answer) (asText bool, err error)
}

// Sent counts the statements of clients that were to be prepared.
type Sent struct {
	// Prepared were prepared, executed and closed, Executed kept prepared. AsText went as text, since the server cannot
	// prepare them.
	Prepared int64 `json:"prepared"`
	Executed int64 `json:"executed"`
	AsText   int64 `json:"as_text"`
}

type sentCounts struct{ prepared, executed, asText atomic.Int64 }

func (c *sentCounts) add(way protocol.Way, asText bool) {
	switch {
	case way == protocol.Text:
	case asText:
		c.asText.Add(1)
	case way == protocol.Prepare:
		c.prepared.Add(1)
	default:
		c.executed.Add(1)
	}
}

func (c *sentCounts) told() *Sent {
	return &Sent{Prepared: c.prepared.Load(), Executed: c.executed.Load(), AsText: c.asText.Load()}
}

// sender is a connection of a client that sends its statements by a protocol.
type sender struct {
	preparer
	by     protocol.Protocol
	client int
	// nth counts the statements of the client, on earlier connections, too.
	nth   *int
	count *sentCounts
}

var errUnpreparing = errors.New("connections of this target cannot prepare statements")

// sendBy makes the connections of a client such that send by a protocol.
func sendBy(d dial, by protocol.Protocol, client int, count *sentCounts) dial {
	if by.IsText() {
		return d
	}
	nth := 0
	return func(ctx context.Context, timeout time.Duration) (conn, error) {
		c, err := d(ctx, timeout)
		if err != nil {
			return nil, err
		}
		p, ok := c.(preparer)
		if !ok {
			c.close()
			return nil, errUnpreparing
		}
		return &sender{p, by, client, &nth, count}, nil
	}
}

// clientDial connects a client to a server, to which dial leads.
func (r *run) clientDial(client int, to dial) dial {
	return sendBy(to, r.settings.Protocol, client, &r.sent)
}

func (s *sender) way() protocol.Way {
	*s.nth++
	return s.by.Of(s.client, "", *s.nth)
}

func (s *sender) change(q string) (int64, error) {
	way := s.way()
	n, asText, err := s.changeBy(way, q)
	s.count.add(way, asText)
	return n, err
}

func (s *sender) query(q string, into *answer) error {
	way := s.way()
	asText, err := s.queryBy(way, q, into)
	s.count.add(way, asText)
	return err
}

// liftedVerbs begin the statements whose values may be parameters.
var liftedVerbs = map[string]bool{"SELECT": true, "INSERT": true, "UPDATE": true, "DELETE": true, "REPLACE": true}

// lifting tells behind which words values may be parameters, and behind which they may not: there they are columns of
// the answer, their numbers, or how many rows it has.
var lifting = map[string]bool{
	"FROM": true, "WHERE": true, "SET": true, "VALUES": true, "ON": true, "UPDATE": true,
	"SELECT": false, "BY": false, "LIMIT": false, "INTERVAL": false, "RETURNING": false, "AS": false,
}

// lift takes the values out of a statement, so that others of its kind have the same text. mark writes the nth
// parameter, from 1 on. Statements are those that workloads send.
func lift(q string, mark func(b *strings.Builder, n int)) (string, []harness.Argument) {
	var b strings.Builder
	var args []harness.Argument
	on, first := false, true
	for i := 0; i < len(q); {
		c := q[i]
		end := i + 1
		switch {
		case c == '\'':
			for end < len(q) && q[end] != '\'' {
				end++
			}
			end = min(end+1, len(q))
			doubled := end < len(q) && q[end] == '\'' || strings.Contains(q[i:end], `\`)
			if doubled { // no workload sends such a text; it stays as it is
				return q, nil
			}
			if on {
				args = append(args, harness.Argument{Value: q[i+1 : end-1]})
				mark(&b, len(args))
				i = end
				continue
			}
		case isDigit(c):
			for end < len(q) && (isDigit(q[end]) || isWord(q[end]) || q[end] == '.') {
				end++
			}
			if on && allDigits(q[i:end]) {
				args = append(args, harness.Argument{Value: q[i:end], Number: true})
				mark(&b, len(args))
				i = end
				continue
			}
		case isWord(c):
			for end < len(q) && (isWord(q[end]) || isDigit(q[end])) {
				end++
			}
			word := strings.ToUpper(q[i:end])
			if first && !liftedVerbs[word] {
				return q, nil
			}
			first = false
			if to, ok := lifting[word]; ok {
				on = to
			}
		}
		b.WriteString(q[i:end])
		i = end
	}
	return b.String(), args
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool { return c == '_' || c == '@' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return len(s) < 19 // more may be too many for an integer
}
