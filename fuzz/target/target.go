package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// Target is an open DBMS that runs cases and judges what it saw. It is safe
// for several goroutines.
type Target struct {
	// Name is what the user called it, without a password.
	Name     string
	address  string // Name, and the password
	released bool   // see Options
	Facts    bool   // see Options
	backend  harness.Backend
	server   history.Server
	options  harness.PoolOptions
	mu       sync.RWMutex // held for writing while the server is restarted
	pool     *harness.Pool
	revived  int
	before   harness.Stats // of the pools that revivals replaced
	doubt    doubt
	user     context.Context // see GivesUpWith
	solver   judging.Solver
	plain    plainCounts
	replicas Replicas

	judgedReads, undecidedReads atomic.Int64 // on a replica
}

// Options says how a target is opened.
type Options struct {
	// Workers is how many cases run at a time; 0: one.
	Workers int
	// InFlight is the folder for the texts of running cases; empty: none.
	InFlight string
	// Deadline bounds one case, set-up excluded; 0: caseDeadline.
	Deadline time.Duration
	// Silence is that of harness.PoolOptions; 0: its default.
	Silence time.Duration
	// Clean empties the tables before each case, so that what it does depends on
	// nothing that ran before; see harness.PoolOptions.
	Clean bool
	// Ahead lets twice as many cases be on their way as run at a time; see
	// harness.PoolOptions.
	Ahead bool
	// Released is that of harness.Options.
	Released bool
	// Facts lets replays ask the server for plans, traces, locks and read views.
	Facts bool
	// Solver says who computes what statements answer.
	Solver judging.Solver
	// AskForAll has PostgreSQL asked for what package plainsql knows, too, for a history that is judged without it later.
	AskForAll bool
	// Progress receives lines for people while a server is fetched or started.
	Progress io.Writer

	_ struct{}
}

// EnvAllowKill, if it is set, lets cases with KILL run on servers of others.
const EnvAllowKill = "TXNFUZZ_ALLOW_KILL"

// Default is the TiDB inside this process.
const Default = "embedded"

// Open starts or connects to a target and prepares its workers. A name
// that cannot be a target gives a *Error.
func Open(ctx context.Context, name string, o Options) (*Target, error) {
	if err := Check(name); err != nil {
		return nil, err
	}
	b, err := harness.Open(ctx, name, harness.Options{Progress: o.Progress, Released: o.Released})
	if err != nil {
		return nil, openError(err)
	}
	t := &Target{
		Name: Redact(name), address: name, released: o.Released, Facts: o.Facts, solver: o.Solver, backend: b, server: b.Server(),
		options: harness.PoolOptions{Workers: o.Workers, InFlight: o.InFlight, DeadLine: cmp.Or(o.Deadline, caseDeadline), Silence: o.Silence, Clean: o.Clean, Ahead: o.Ahead, AllowKill: os.Getenv(EnvAllowKill) != ""},
	}
	if t.server.Declared, err = declaredPromise(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if t.server.Declared != nil && t.server.DBMS == history.PostgreSQL {
		return nil, errors.Join(&Error{"what PostgreSQL's levels promise is known: --promise is for servers of MySQL's protocol that no rule knows"}, b.Close())
	}
	if t.server.Declared == nil {
		t.server.Declared = promisedByCluster(b)
	}
	t.options.Declared = t.server.Declared
	t.options.ReplicaPromise = load.ReplicaPromise(b)
	t.plain.always = o.AskForAll
	if t.pool, err = harness.NewPool(ctx, b, t.options); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare target %s: %w", t.Name, err), b.Close())
	}
	if t.server.Declared != nil {
		if err := t.rehearse(ctx, o.Progress); err != nil {
			return nil, errors.Join(fmt.Errorf("prepare target %s: %w", t.Name, err), t.Close())
		}
	}
	return t, nil
}

// GivesUpWith says with which context the work of all who use the target ends. What goes on behind the end of one run,
// since others are to use the target then, ends with that. It is called before the first run.
func (t *Target) GivesUpWith(ctx context.Context) { t.user = ctx }

// Through returns a target on a backend, by a pool of it. Both stay the caller's to close.
func Through(name string, b harness.Backend, p *harness.Pool) *Target {
	return &Target{Name: name, backend: b, server: b.Server(), pool: p}
}

// Close ends the workers, and the server if it is ours.
func (t *Target) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := t.pool.Leave
	if IsDSN(t.address) { // the server stays
		end = t.pool.Close
	}
	return errors.Join(t.doubt.close(), end(), t.backend.Close())
}

// Server tells what the target is.
func (t *Target) Server() history.Server { return t.server }

// Solitary says that each of several workers had better have a target of its own.
func (t *Target) Solitary() bool {
	s, ok := t.backend.(harness.Solitary)
	return ok && s.Solitary()
}

// Levels returns the isolation levels that the target knows, and of which a promise was declared if some
// was, weakest first.
func (t *Target) Levels() []corpus.Level {
	levels := harness.LevelsOf(t.backend)
	if d := t.server.Declared; d != nil {
		levels = slices.DeleteFunc(slices.Clone(levels), func(l corpus.Level) bool { return d.Levels[l] == "" })
	}
	return levels
}

// OneLine puts a text on one line, as header lines and tables want it.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
