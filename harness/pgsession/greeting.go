package pgsession

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// greeting is a connection while pgconn opens a session on it. Where the first message takes more than 15 ms to be
// written, pgconn reads in the background, and goes on until there is something to read: without an end that would be
// the answer to the session's first statement, which nobody then gets.
// https://github.com/jackc/pgx/blob/master/pgconn/internal/bgreader/bgreader.go
type greeting struct {
	net.Conn
	reading sync.Mutex
	over    bool // nobody reads here any more
}

func (g *greeting) Read(p []byte) (int, error) {
	g.reading.Lock()
	defer g.reading.Unlock()
	if g.over {
		return 0, net.ErrClosed
	}
	return g.Conn.Read(p)
}

// end ends a read that is under way; over says that there is to be none behind it either.
func (g *greeting) end(over bool) error {
	if err := g.Conn.SetReadDeadline(time.Unix(1, 0)); err != nil {
		return fmt.Errorf("end the greeting: %w", err)
	}
	g.reading.Lock()
	defer g.reading.Unlock()
	g.over = over
	if err := g.Conn.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("end the greeting: %w", err)
	}
	return nil
}
