//go:build !linux || !amd64

package pause

import "errors"

// ErrForbidden says that nobody can be traced here.
var ErrForbidden = errors.New("a statement can be held inside on Linux on amd64 only")

// Tracer cannot be had on this system.
type Tracer struct{}

// New returns ErrForbidden.
func New() (*Tracer, error) { return nil, ErrForbidden }

// Close does nothing.
func (*Tracer) Close() {}

// Attach returns ErrForbidden.
func (*Tracer) Attach(int) error { return ErrForbidden }

// Detach returns ErrForbidden.
func (*Tracer) Detach(int) error { return ErrForbidden }

// Arm returns ErrForbidden.
func (*Tracer) Arm(int, uint64, int) (<-chan struct{}, error) { return nil, ErrForbidden }

// Release returns ErrForbidden.
func (*Tracer) Release(int) error { return ErrForbidden }

// Held is false.
func (*Tracer) Held(int) bool { return false }

// Record returns ErrForbidden.
func (*Tracer) Record(int, uint64, uint64, int) (func() ([]uint64, error), error) {
	return nil, ErrForbidden
}
