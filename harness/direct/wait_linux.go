package direct

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const available = true

// readOnce is one attempt; it holds for the Read under way.
func (c *Conn) readOnce() (int, error) {
	for {
		n, err := unix.Read(c.fd, c.into)
		switch err {
		case nil:
			return n, nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, errEmpty
		default:
			return 0, os.NewSyscallError("read", err)
		}
	}
}

// wait returns when there is something to read, or an error to be had by it.
func (c *Conn) wait() error {
	var failed error
	held := c.raw.Read(func(fd uintptr) bool {
		for {
			var limit *unix.Timespec
			if !c.deadline.IsZero() {
				left := time.Until(c.deadline)
				if left <= 0 {
					failed = timedOut()
					return true
				}
				ts := unix.NsecToTimespec(int64(left))
				limit = &ts
			}
			fds := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			n, err := unix.Ppoll(fds[:], limit, nil)
			switch {
			case err == unix.EINTR, err == nil && n == 0:
			case err != nil:
				failed = os.NewSyscallError("ppoll", err)
				return true
			default:
				return true
			}
		}
	})
	if held != nil {
		return fmt.Errorf("read: %w", held)
	}
	return failed
}

// Set is some connections to wait for at once, and a timer that is exact where
// that of the system call is late by 50 µs. It is for one goroutine.
//
// Its events are edge-triggered, so that connections come in the order in which
// there came to be something to read. A level-triggered set keeps the place of a
// connection that was read from, and poll knows no order at all.
//
// https://man7.org/linux/man-pages/man7/epoll.7.html
type Set struct {
	conns  map[int32]*Conn
	poll   int
	timer  int
	events []unix.EpollEvent // of the last system call
	next   int               // the first of them that was not returned
}

// atOnce is how many connections one system call tells of.
const atOnce = 16

// NewSet returns an empty set.
func NewSet() (*Set, error) {
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("wait for sockets: %w", os.NewSyscallError("epoll_create1", err))
	}
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		_ = unix.Close(poll)
		return nil, fmt.Errorf("make a timer: %w", os.NewSyscallError("timerfd_create", err))
	}
	s := &Set{conns: map[int32]*Conn{}, poll: poll, timer: timer, events: make([]unix.EpollEvent, 0, atOnce)}
	if err := s.register(timer); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Set) register(fd int) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(fd)}
	if err := unix.EpollCtl(s.poll, unix.EPOLL_CTL_ADD, fd, &e); err != nil {
		return fmt.Errorf("wait for a socket: %w", os.NewSyscallError("epoll_ctl", err))
	}
	return nil
}

// Add puts a connection in.
func (s *Set) Add(c *Conn) error {
	if err := s.register(c.fd); err != nil {
		return err
	}
	s.conns[int32(c.fd)] = c
	return nil
}

// Remove takes a connection out, which must not be closed yet.
func (s *Set) Remove(c *Conn) {
	if s.conns[int32(c.fd)] != c {
		return
	}
	delete(s.conns, int32(c.fd))
	_ = unix.EpollCtl(s.poll, unix.EPOLL_CTL_DEL, c.fd, nil)
	s.events, s.next = s.events[:0], 0 // the others' are lost with it
	for fd := range s.conns {
		e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET, Fd: fd}
		_ = unix.EpollCtl(s.poll, unix.EPOLL_CTL_MOD, int(fd), &e) // tells anew what can be read
	}
}

// Wait returns a connection that came to be readable, or nil after d; d of at
// most zero means at once. Its caller reads until nothing is left: there is no
// second word of the same bytes. A connection that is shut down counts as
// readable.
func (s *Set) Wait(d time.Duration) (*Conn, error) {
	if c, _ := s.told(); c != nil {
		return c, nil
	}
	forever := -1
	if d > 0 {
		spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
		if err := unix.TimerfdSettime(s.timer, 0, &spec, nil); err != nil {
			return nil, os.NewSyscallError("timerfd_settime", err)
		}
	} else {
		forever = 0
	}
	for {
		n, err := unix.EpollWait(s.poll, s.events[:atOnce], forever)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, os.NewSyscallError("epoll_wait", err)
		}
		s.events, s.next = s.events[:n], 0
		c, rang := s.told()
		if c != nil || rang || n == 0 {
			return c, nil
		}
	}
}

// told returns the next connection that the last system call told of.
func (s *Set) told() (c *Conn, rang bool) {
	for s.next < len(s.events) {
		fd := s.events[s.next].Fd
		s.next++
		if c := s.conns[fd]; c != nil {
			return c, rang
		}
		rang = rang || fd == int32(s.timer)
	}
	return nil, rang
}

// Close ends the timer; the connections stay.
func (s *Set) Close() error {
	return errors.Join(os.NewSyscallError("close", unix.Close(s.timer)), os.NewSyscallError("close", unix.Close(s.poll)))
}
