package direct

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// pair returns both ends of a socket, the first of them direct.
func pair(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		far <- c
	}()
	near, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, ok := New(near).(*Conn)
	if !ok {
		t.Fatal("a socket of the system is not waited for in the kernel")
	}
	other := <-far
	t.Cleanup(func() {
		_ = c.Close()
		_ = other.Close()
	})
	return c, other
}

func TestNewLeavesAPipeAlone(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	if New(near) != near || Indirect(near) != near {
		t.Error("a pipe within the process was made direct")
	}
	c, _ := pair(t)
	if Indirect(c) != c.Conn {
		t.Error("Indirect does not give what is inside")
	}
}

func TestReadWaits(t *testing.T) {
	c, far := pair(t)
	if _, err := c.TryRead(make([]byte, 1)); !Empty(err) {
		t.Fatalf("nothing was sent: error %v", err)
	}
	got := make(chan string, 1)
	go func() {
		buf := make([]byte, 16)
		n, err := c.Read(buf)
		if err != nil {
			t.Error(err)
		}
		got <- string(buf[:n])
	}()
	select {
	case s := <-got:
		t.Fatalf("read %q of nothing", s)
	case <-time.After(10 * time.Millisecond):
	}
	if _, err := far.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "hello" {
		t.Errorf("read %q", s)
	}
	_ = far.Close()
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("behind the end: %v, want io.EOF", err)
	}
}

func TestReadEnds(t *testing.T) {
	for name, end := range map[string]func(c *Conn){
		"shutdown": func(c *Conn) { c.Shutdown() },
		"close":    func(c *Conn) { _ = c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := pair(t)
			ended := make(chan error, 1)
			go func() {
				_, err := c.Read(make([]byte, 1))
				ended <- err
			}()
			time.Sleep(5 * time.Millisecond) // it may have begun: both ways must end it
			end(c)
			if err := <-ended; err == nil {
				t.Error("read something of a connection that was ended")
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	c, far := pair(t)
	if err := c.SetReadDeadline(time.Now().Add(5 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v, want that of a deadline", err)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := far.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("read %d, %v without a deadline", n, err)
	}
}

func newSet(t *testing.T, conns ...*Conn) *Set {
	t.Helper()
	s, err := NewSet()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, c := range conns {
		if err := s.Add(c); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func expect(t *testing.T, s *Set, d time.Duration, want *Conn) {
	t.Helper()
	if got, err := s.Wait(d); err != nil || got != want {
		t.Fatalf("waited for %p, got %p, error %v", want, got, err)
	}
}

// TestSetKeepsTheOrder: answers come in the order in which they were sent, also
// from connections that were read from before.
func TestSetKeepsTheOrder(t *testing.T) {
	a, farA := pair(t)
	b, farB := pair(t)
	s := newSet(t, a, b)
	send := func(c net.Conn) {
		t.Helper()
		if _, err := c.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	read := func(c *Conn) {
		t.Helper()
		if _, err := c.TryRead(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		send(farA)
		expect(t, s, time.Minute, a)
		read(a)
		// A set that keeps a's place has it first.
		send(farB)
		send(farA)
		expect(t, s, time.Minute, b)
		expect(t, s, time.Minute, a)
		read(a)
		read(b)
		expect(t, s, 0, nil)
	}
}

func TestSetTimer(t *testing.T) {
	a, far := pair(t)
	s := newSet(t, a)
	for range 100 {
		expect(t, s, 50*time.Microsecond, nil)
	}
	// An answer before the time is over leaves the timer armed.
	if _, err := far.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	expect(t, s, 5*time.Millisecond, a)
	began := time.Now()
	expect(t, s, 30*time.Millisecond, nil)
	if d := time.Since(began); d < 30*time.Millisecond {
		t.Errorf("waited %v, want 30ms: the timer set before has rung", d)
	}
}

// TestSetRemove: a connection that leaves takes no other's news with it.
func TestSetRemove(t *testing.T) {
	a, farA := pair(t)
	b, farB := pair(t)
	c, farC := pair(t)
	s := newSet(t, a, b, c)
	for _, far := range []net.Conn{farA, farB, farC} {
		if _, err := far.Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, s, time.Minute, a)
	s.Remove(b)
	if _, err := a.TryRead(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	expect(t, s, time.Minute, c)
	expect(t, s, 0, nil)
	c.Shutdown() // wakes whoever waits
	expect(t, s, time.Minute, c)
}
