package harness

import (
	"cmp"
	"context"
)

// Crasher is implemented by a Backend whose server is ours to kill and to stop,
// and which was opened with Options.Durable.
type Crasher interface {
	// Kill ends the server with SIGKILL, as the system does when it runs out of
	// memory. Connections break; nothing is written any more.
	Kill() error
	// Recover starts the server again on the data that it left, and waits until
	// it answers. It returns a *RecoveryError if the server cannot.
	Recover(ctx context.Context) error
	// Pause stops the server's process as it is, and Resume lets it go on.
	Pause() error
	Resume() error
}

// RecoveryError says that a server that was killed does not start on its own
// data: a finding about the server, no failure of the harness.
type RecoveryError struct {
	Err error
	// Did is what the server did instead of recovering; empty: it does not start.
	Did string
	// Log is the end of what the server wrote.
	Log string
}

func (e *RecoveryError) Error() string {
	return cmp.Or(e.Did, "the killed server does not recover") + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *RecoveryError) Unwrap() error { return e.Err }
