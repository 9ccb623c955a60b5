package harness

import "context"

// CopyMethod is a way of copying the files of a server while clients work.
type CopyMethod string

// The vendors' ways.
const (
	MySQLClone    CopyMethod = "clone"          // MySQL's statement CLONE LOCAL DATA DIRECTORY
	MariaDBBackup CopyMethod = "mariadb-backup" // MariaDB's program of that name
	BaseBackup    CopyMethod = "pg_basebackup"  // PostgreSQL's program of that name
)

// Copying is implemented by a private server whose files can be copied while it works. It was opened with
// Options.Copied.
type Copying interface {
	// CanCopy returns why Copy does not work in a way on this server; nil: it does.
	CanCopy(m CopyMethod) error
	// Copy returns when the copy is complete. What the copy holds once a server was started on it is the state of some
	// moment between the call and the return.
	Copy(ctx context.Context, m CopyMethod) (DataCopy, error)
}

// DataCopy is a copied data directory, on which no server runs yet. It goes away with this process, too.
type DataCopy interface {
	// Start makes the copy ready, starts a server on it that is set as the copied one, and waits until it answers. The
	// data then are that server's and go away with it. A *CopyError says that no server can be started on the copy;
	// behind any error nothing is left.
	Start(ctx context.Context) (Backend, error)
	// Close removes a copy on which no server was started.
	Close() error
}

// CopyError says that the vendor's own programs make nothing of a copy that was told to be complete: a finding about
// the server, no failure of the harness.
type CopyError struct{ Err error }

func (e *CopyError) Error() string { return "no server starts on the copy: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *CopyError) Unwrap() error { return e.Err }
