package server

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCable: what is sent while a cable is cut comes when it is whole again, and not before; so do connections.
func TestCable(t *testing.T) {
	dir := shortDir(t)
	at, to := filepath.Join(dir, "standby"), filepath.Join(dir, "primary")
	primary, err := net.Listen("unix", to)
	if err != nil {
		t.Fatal(err)
	}
	defer primary.Close()
	go echo(primary)
	c := newCable()
	defer c.close()
	if err := c.listen(at, to); err != nil {
		t.Fatal(err)
	}
	first := dialUnix(t, at)
	says(t, first, "one\n", true)
	if err := c.cut(); err != nil {
		t.Fatal(err)
	}
	says(t, first, "two\n", false)
	second := dialUnix(t, at)
	says(t, second, "three\n", false)
	if err := c.heal(); err != nil {
		t.Fatal(err)
	}
	hears(t, first, "two\n")
	hears(t, second, "three\n")
	if err := c.cut(); err != nil {
		t.Fatal(err)
	}
	c.close()
	for _, conn := range []net.Conn{first, second} {
		_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a connection outlives its cable: %v", err)
		}
	}
	if err := c.listen(at+"2", to); !errors.Is(err, errCableEnded) {
		t.Errorf("a cable that has ended takes connections: %v", err)
	}
	if err := (*cable)(nil).cut(); err == nil {
		t.Error("no cable was cut")
	}
}

// echo answers each connection with what it sends.
func echo(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			_, _ = io.Copy(conn, conn)
		}()
	}
}

func dialUnix(t *testing.T, path string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// says sends a line, which is answered or not.
func says(t *testing.T, conn net.Conn, line string, answered bool) {
	t.Helper()
	if _, err := io.WriteString(conn, line); err != nil {
		t.Fatal(err)
	}
	if answered {
		hears(t, conn, line)
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q has passed a cable that is cut, or it is known: %v", line, err)
	}
}

func hears(t *testing.T, conn net.Conn, line string) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if got, err := bufio.NewReader(conn).ReadString('\n'); got != line {
		t.Errorf("heard %q (%v), want %q", got, err, line)
	}
}
