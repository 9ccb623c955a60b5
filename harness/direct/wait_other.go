//go:build !linux

package direct

import (
	"errors"
	"time"
)

// available is false where New leaves connections as they are, so that nothing
// below is ever called.
const available = false

var errNotHere = errors.New("waiting in the kernel is for Linux")

func (c *Conn) readOnce() (int, error) { return 0, errNotHere }

func (c *Conn) wait() error { return errNotHere }

// Set is some connections to wait for at once.
type Set struct{}

// NewSet returns an empty set.
func NewSet() (*Set, error) { return &Set{}, nil }

// Add puts a connection in.
func (s *Set) Add(*Conn) error { return errNotHere }

// Remove takes a connection out.
func (s *Set) Remove(*Conn) {}

// Wait returns a connection that can be read.
func (s *Set) Wait(time.Duration) (*Conn, error) { return nil, errNotHere }

// Close does nothing.
func (s *Set) Close() error { return nil }
