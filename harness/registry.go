package harness

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"
)

// DSN is the name under which the opener for data source names registers:
// targets such as user:pass@tcp(host:port)/, user@unix(/path)/ or
// postgres://user:pass@host:port/database.
const DSN = "dsn"

// EnvBinary names the variable that holds the user's own build of a server, so
// that child processes and `go test` find it, too: PATH[,base=DIR][,share=DIR]
// [,plugins=DIR]. The value is one that server.OwnBinary has written.
const EnvBinary = "TXNFUZZ_BINARY"

// Options says how a target is opened.
type Options struct {
	// Dir is where a private server keeps its files; empty: a directory of its
	// own, on tmpfs where there is one.
	Dir string
	// Durable asks for a server of our own that keeps what it acknowledged when it
	// is killed, on a real file system; it is slower, and its backend a Crasher.
	Durable bool
	// PowerLoss asks for a Durable server that can lose its power, too: a PowerLoser.
	PowerLoss bool
	// Copied asks for a private server whose files can be copied while it works: a Copying.
	Copied bool
	// Partition asks for a Durable cluster whose nodes can be cut off from each other: a Breakable. Open returns a
	// *NoNetworkError where this machine does not let them.
	Partition bool
	// Port lets other clients of this machine reach a private server at
	// 127.0.0.1:Port, as a Reachable tells; 0: by its socket only.
	Port int
	// Released asks for an installed release, although the user has named a build of
	// his own for the family.
	Released bool
	// ReadOnly says that a server of others is only read from, such as a standby.
	ReadOnly bool
	// Progress receives lines for people (a download, a start); nil: nowhere.
	Progress io.Writer

	_ struct{} // no positional literals
}

// NameError says that a target's name is none: its syntax or an option of it is
// wrong, so that no server was looked for.
type NameError struct{ Err error }

func (e *NameError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *NameError) Unwrap() error { return e.Err }

// Opener opens the target that was named in full, for example
// "mariadb:11.8,snapshot=off".
type Opener func(ctx context.Context, target string, o Options) (Backend, error)

// Target is one line of what can be run against here.
type Target struct {
	// Name is what Open takes.
	Name string
	// Version is empty where only a start would tell.
	Version string
	// Note says where it comes from, or why it cannot be had.
	Note      string
	Available bool
}

// Lister tells which targets of one opener are to be had on this machine. It
// starts no server.
type Lister func(ctx context.Context) []Target

type entry struct {
	open Opener
	list Lister
}

var (
	registryMu sync.RWMutex
	registry   = map[string]entry{}
)

// Register makes a backend known under the part of a target before the first
// ':' or ','; list may be nil. It is called from init functions and panics if
// the name is taken.
func Register(name string, open Opener, list Lister) {
	registryMu.Lock()
	defer registryMu.Unlock()
	if _, dup := registry[name]; dup {
		panic("harness: target registered twice: " + name)
	}
	registry[name] = entry{open, list}
}

// Targets returns the registered names, sorted.
func Targets() []string {
	registryMu.RLock()
	defer registryMu.RUnlock()
	names := make([]string, 0, len(registry))
	for n := range registry {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Available asks every opener that can tell what is to be had here.
func Available(ctx context.Context) []Target {
	var out []Target
	for _, n := range Targets() {
		registryMu.RLock()
		list := registry[n].list
		registryMu.RUnlock()
		if list != nil {
			out = append(out, list(ctx)...)
		}
	}
	return out
}

// IsPostgresDSN says that a target is the data source name of a PostgreSQL, which is an URL.
// https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
func IsPostgresDSN(target string) bool {
	return strings.HasPrefix(target, "postgres://") || strings.HasPrefix(target, "postgresql://")
}

// isDSN tells a data source name from a target name: only the former has a '/'
// behind a network address, and every DSN must have it.
func isDSN(target string) bool {
	return IsPostgresDSN(target) || strings.Contains(target, "/") && (strings.ContainsAny(target, "@(") || strings.HasPrefix(target, "/"))
}

// Open starts or connects to a target.
func Open(ctx context.Context, target string, o Options) (Backend, error) {
	name := target
	if isDSN(target) {
		name = DSN
	} else if i := strings.IndexAny(target, ":,"); i >= 0 {
		name = target[:i]
	}
	registryMu.RLock()
	e, ok := registry[name]
	registryMu.RUnlock()
	if !ok {
		if name == DSN {
			return nil, fmt.Errorf("no driver for data source names is built in; known targets: %s", strings.Join(Targets(), ", "))
		}
		return nil, fmt.Errorf("unknown target %q: want one of %s, or a DSN such as user:pass@tcp(host:3306)/ or "+
			"postgres://user:pass@host:5432/database", target, strings.Join(Targets(), ", "))
	}
	b, err := e.open(ctx, target, o)
	if err != nil {
		if name == DSN {
			return nil, fmt.Errorf("open data source: %w", err) // the DSN itself may hold a password
		}
		return nil, fmt.Errorf("open target %s: %w", target, err)
	}
	return b, nil
}
