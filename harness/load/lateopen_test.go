package load_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
)

// straggler is a PostgreSQL and its standby on which a COMMIT whose client has given it up comes to its end when the
// epoch is over, between the two reads of all keys.
type straggler struct {
	seenThrough

	mu      sync.Mutex
	commits int
	pending harness.Session
	late    int // how many came so
}

func (w *straggler) Open(ctx context.Context, own bool) (harness.Session, error) {
	s, err := w.Backend.(harness.Database).Open(ctx, own)
	return &givingUp{Session: s, of: w}, err
}

// givingUp is a session on the primary that loses its connection in one of so many COMMITs.
type givingUp struct {
	harness.Session
	of   *straggler
	lost bool
}

func (s *givingUp) Execute(sql string) (harness.Reply, error) {
	if sql != "COMMIT" {
		return s.Session.Execute(sql)
	}
	s.of.mu.Lock()
	s.of.commits++
	s.lost = s.of.pending == nil && s.of.commits%50 == 0
	if s.lost {
		s.of.pending = s.Session
	}
	s.of.mu.Unlock()
	if s.lost {
		return harness.Reply{}, io.ErrUnexpectedEOF
	}
	return s.Session.Execute(sql)
}

func (s *givingUp) Close() error {
	if s.lost {
		return nil
	}
	return s.Session.Close()
}

// onStandby has what is pending come to the standby before that is read as a whole.
type onStandby struct {
	harness.Backend
	of *straggler
}

func (b *onStandby) Open(ctx context.Context, own bool) (harness.Session, error) {
	s, err := b.Backend.(harness.Database).Open(ctx, own)
	return &awaiting{Session: s, of: b.of, ctx: ctx}, err
}

type awaiting struct {
	harness.Session
	of  *straggler
	ctx context.Context
}

func (s *awaiting) Execute(sql string) (harness.Reply, error) {
	if strings.HasPrefix(sql, "SELECT k, val FROM append_list") {
		if err := s.of.arrives(); err != nil {
			return harness.Reply{}, err
		}
	}
	return s.Session.Execute(sql)
}

func (w *straggler) arrives() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending == nil {
		return nil
	}
	r, err := w.pending.Execute("COMMIT")
	if err != nil || r.Err != nil {
		return err
	}
	w.late++
	err = w.pending.Close()
	w.pending = nil
	if err != nil {
		return err
	}
	f, err := w.pair.Follow(context.Background())
	if err != nil {
		return err
	}
	defer f.Close()
	return f.CatchUp(context.Background())
}

// TestCommitUnderWay: what a standby shows of a transaction whose end nobody knows is no difference if the primary
// shows it, too, once it is over.
func TestCommitUnderWay(t *testing.T) {
	for _, target := range installed(t, "postgres:18") {
		pair := pairOf(t, target).(harness.Replicated)
		nodes := slices.Clone(pair.Topology().Nodes)
		w := &straggler{seenThrough: seenThrough{nodes[0].Backend, pair, nodes}}
		nodes[0].Backend, nodes[1].Backend = w, &onStandby{nodes[1].Backend, w}
		s := settings(t, target, "append", corpus.ReadCommitted)
		s.Clients, s.Duration, s.Epoch = 8, 3*time.Second, 400
		r, err := load.Run(t.Context(), w, s)
		if r == nil {
			t.Fatal(err)
		}
		if w.late == 0 || r.Found() {
			t.Errorf("%d commits came late (%v):\n%s", w.late, err, textOf(t, r))
		}
	}
}
