package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// cablePort names the socket at which a standby finds its primary behind a cable, in the standby's folder.
const cablePort = 1

// cable carries the connections of a standby to its primary, both of which use unix sockets, until it is cut: then
// nothing comes or goes, and nobody is told, as where a network is lost. There is no network of its own for them, since
// PostgreSQL refuses to be run by root, and another user could not enter a network of root's.
type cable struct {
	mu       sync.Mutex
	change   *sync.Cond
	severed  bool
	ended    bool
	listener net.Listener
	open     map[net.Conn]bool
}

func newCable() *cable {
	c := &cable{open: map[net.Conn]bool{}}
	c.change = sync.NewCond(&c.mu)
	return c
}

var errCableEnded = errors.New("the cable between a standby and its primary has ended")

// listen takes connections at one socket to another one, and ends all that came before.
func (c *cable) listen(at, to string) error {
	listener, err := net.Listen("unix", at)
	if err != nil {
		return fmt.Errorf("join a standby to its primary: %w", err)
	}
	c.mu.Lock()
	old := c.listener
	c.listener = listener
	if c.ended {
		err = errCableEnded
		old = listener
	}
	c.mu.Unlock()
	if old != nil {
		_ = old.Close()
	}
	if err == nil {
		go c.accept(listener, to)
	}
	return err
}

func (c *cable) accept(listener net.Listener, to string) {
	for {
		standby, err := listener.Accept()
		if err != nil {
			return
		}
		go c.carry(standby, to)
	}
}

// carry joins a connection of a standby to one to its primary.
func (c *cable) carry(standby net.Conn, to string) {
	defer c.drop(standby)
	if !c.pass() || !c.keep(standby) {
		return
	}
	primary, err := net.Dial("unix", to)
	if err != nil {
		return // the standby tries again
	}
	defer c.drop(primary)
	if !c.keep(primary) {
		return
	}
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{standby, primary}, {primary, standby}} {
		go func() {
			c.copy(way[1], way[0])
			ended <- struct{}{}
		}()
	}
	<-ended
}

// copy carries what comes, and returns when no more does and the other end may hear of that.
func (c *cable) copy(to io.Writer, from io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if !c.pass() {
			return
		}
		if n > 0 {
			if _, failed := to.Write(buffer[:n]); failed != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits until something may pass; false: nothing will any more.
func (c *cable) pass() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.severed && !c.ended {
		c.change.Wait()
	}
	return !c.ended
}

func (c *cable) keep(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = true
	return !c.ended
}

func (c *cable) drop(conn net.Conn) {
	_ = conn.Close()
	c.mu.Lock()
	delete(c.open, conn)
	c.mu.Unlock()
}

func (c *cable) cut() error  { return c.set(true) }
func (c *cable) heal() error { return c.set(false) }

func (c *cable) set(severed bool) error {
	if c == nil {
		return errNoNetwork
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.severed = severed
	c.change.Broadcast()
	return nil
}

// close ends all connections. There may be no cable.
func (c *cable) close() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.listener != nil {
		_ = c.listener.Close()
	}
	for conn := range c.open {
		_ = conn.Close()
	}
	c.change.Broadcast()
}
