//go:build !notidb

package embedded

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
)

// lockRequest is a pessimistic lock request that the store has not answered.
type lockRequest struct {
	startTS uint64
	keys    [][]byte
	context kvrpcpb.Context
	addr    string
}

// lockSpy stands between TiDB and its store and keeps the pessimistic lock
// requests that are under way. It changes none and adds none, so it cannot mask
// a fault of locking: whether a request will wait, or waits, is read off the
// store's lock table.
type lockSpy struct {
	tikv.Client
	mu      sync.Mutex
	pending map[*lockRequest]struct{}
	wakes   map[chan struct{}]struct{}
}

func newLockSpy() *lockSpy {
	return &lockSpy{pending: map[*lockRequest]struct{}{}, wakes: map[chan struct{}]struct{}{}}
}

// lockNoWait in a request says that it wants an error instead of a wait.
const lockNoWait = -1

// SendRequest passes a request on and keeps it while it may wait.
func (s *lockSpy) SendRequest(ctx context.Context, addr string, req *tikvrpc.Request, timeout time.Duration) (*tikvrpc.Response, error) {
	if req.Type != tikvrpc.CmdPessimisticLock {
		return s.Client.SendRequest(ctx, addr, req, timeout)
	}
	p := req.PessimisticLock()
	if p.WaitTimeout == lockNoWait {
		return s.Client.SendRequest(ctx, addr, req, timeout)
	}
	l := &lockRequest{startTS: p.StartVersion, addr: addr, keys: make([][]byte, len(p.Mutations))}
	for i, m := range p.Mutations {
		l.keys[i] = m.Key
	}
	l.context = kvrpcpb.Context{
		RegionId: req.Context.RegionId, RegionEpoch: req.Context.RegionEpoch, Peer: req.Context.Peer,
	}
	s.mu.Lock()
	s.pending[l] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.pending, l)
		s.mu.Unlock()
	}()
	if locks, err := s.locks(ctx, l); err == nil {
		for _, k := range l.keys {
			if ts, ok := locks[string(k)]; ok && ts != l.startTS {
				s.wake()
				break
			}
		}
	}
	return s.Client.SendRequest(ctx, addr, req, timeout)
}

// wake tells all listeners that a request is about to wait.
func (s *lockSpy) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.wakes {
		select {
		case w <- struct{}{}:
		default: // a token that lies there says as much
		}
	}
}

// listen returns a channel that gets a token when a request will wait.
func (s *lockSpy) listen() chan struct{} {
	w := make(chan struct{}, 1)
	s.mu.Lock()
	s.wakes[w] = struct{}{}
	s.mu.Unlock()
	return w
}

func (s *lockSpy) mute(w chan struct{}) {
	s.mu.Lock()
	delete(s.wakes, w)
	s.mu.Unlock()
}

// of returns the requests under way of some transactions.
func (s *lockSpy) of(startTS map[uint64]uint64) []*lockRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*lockRequest
	for l := range s.pending {
		if _, ok := startTS[l.startTS]; ok {
			out = append(out, l)
		}
	}
	return out
}

// locks asks the store for the locks in the region of a request: for each key
// the start timestamp of the transaction that holds it. Only locks held now are
// in that table, a few dozen at most.
func (s *lockSpy) locks(ctx context.Context, l *lockRequest) (map[string]uint64, error) {
	req := tikvrpc.NewRequest(tikvrpc.CmdScanLock,
		&kvrpcpb.ScanLockRequest{MaxVersion: math.MaxUint64, Limit: math.MaxInt32}, l.context)
	resp, err := s.Client.SendRequest(ctx, l.addr, req, time.Second)
	if err != nil {
		return nil, fmt.Errorf("scan the store's locks: %w", err)
	}
	r, ok := resp.Resp.(*kvrpcpb.ScanLockResponse)
	if !ok || r.RegionError != nil {
		return nil, nil // the region moved: the request will be sent again
	}
	out := make(map[string]uint64, len(r.Locks))
	for _, k := range r.Locks {
		out[string(k.Key)] = k.LockVersion
	}
	return out, nil
}
