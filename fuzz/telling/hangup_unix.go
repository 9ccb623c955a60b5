//go:build unix

package telling

import (
	"errors"
	"syscall"
)

// isHangUp recognises the end of a terminal whose other side has closed.
func isHangUp(err error) bool { return errors.Is(err, syscall.EIO) }
