package direct

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// Conn is a socket whose Read waits in the kernel. Everything else is as of the
// connection inside, save that Close and Shutdown end a Read under way.
type Conn struct {
	net.Conn
	raw      syscall.RawConn
	fd       int
	deadline time.Time

	// Of the Read under way; kept here so that it allocates nothing.
	into    []byte
	n       int
	err     error
	attempt func(fd uintptr) bool
}

// New returns a connection that waits in the kernel, or c itself where it is no
// socket or the system offers no way to.
func New(c net.Conn) net.Conn {
	sock, ok := c.(interface {
		syscall.Conn
		CloseRead() error
	})
	if !ok || !available {
		return c
	}
	raw, err := sock.SyscallConn()
	if err != nil {
		return c
	}
	d := &Conn{Conn: c, raw: raw}
	if err := raw.Control(func(fd uintptr) { d.fd = int(fd) }); err != nil {
		return c
	}
	d.attempt = func(uintptr) bool {
		d.n, d.err = d.readOnce()
		return true // never the runtime's turn to wait
	}
	return d
}

// Indirect returns the connection inside a Conn, and any other as it is.
func Indirect(c net.Conn) net.Conn {
	if d, ok := c.(*Conn); ok {
		return d.Conn
	}
	return c
}

// errEmpty says that a socket has nothing to read now.
var errEmpty = errors.New("nothing to read")

// Read waits until there is something to read, the connection has ended, or the
// deadline has passed.
func (c *Conn) Read(p []byte) (int, error) {
	for {
		// The descriptor must not be another connection's by now: raw holds it
		// while the callback runs. So does wait, which Close ends by Shutdown.
		if err := c.wait(); err != nil {
			return 0, err
		}
		n, err := c.TryRead(p)
		if err != errEmpty {
			return n, err
		}
	}
}

// TryRead reads what has come in and does not wait; Empty tells its error where
// nothing has.
func (c *Conn) TryRead(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	c.into = p
	err := c.raw.Read(c.attempt)
	c.into = nil
	if err != nil {
		return 0, fmt.Errorf("read: %w", err)
	}
	if c.n == 0 && c.err == nil {
		return 0, io.EOF
	}
	return c.n, c.err
}

// Empty says that an error of TryRead means that nothing has come in yet.
func Empty(err error) bool { return err == errEmpty }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	c.deadline = t
	return c.Conn.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn. It counts for Reads that begin later.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.deadline = t
	return nil
}

// Shutdown ends the connection but keeps its descriptor, so that whoever waits
// for it wakes up. It may be called from any goroutine.
func (c *Conn) Shutdown() {
	_ = c.Conn.(interface{ CloseRead() error }).CloseRead()
	_ = c.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.Shutdown()
	return c.Conn.Close()
}

func timedOut() error { return fmt.Errorf("read: %w", os.ErrDeadlineExceeded) }
