//go:build !notidb

package embedded

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/util"
)

// lockRequest is a pessimistic lock request that the store has not answered.
type lockRequest struct {
	startTS uint64
	conn    uint64 // that sent it
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
	requests *requests
	mu       sync.Mutex
	pending  map[*lockRequest]struct{}
	wakes    map[chan struct{}]struct{}
	// latest is the last lock request of the last transaction of each connection that asked
	// for a lock; owners names the connections by the start timestamps of these
	// transactions, without those that have committed.
	latest map[uint64]*lockRequest
	owners map[uint64]uint64
}

func newLockSpy() *lockSpy {
	return &lockSpy{
		requests: newRequests(),
		pending:  map[*lockRequest]struct{}{}, wakes: map[chan struct{}]struct{}{},
		latest: map[uint64]*lockRequest{}, owners: map[uint64]uint64{},
	}
}

// lockNoWait in a request says that it wants an error instead of a wait.
const lockNoWait = -1

// SendRequest passes a request on, and holds it where that is wanted.
func (s *lockSpy) SendRequest(ctx context.Context, addr string, req *tikvrpc.Request, timeout time.Duration) (*tikvrpc.Response, error) {
	q := s.requests.begins(ctx, req.Type.String())
	resp, err := s.send(ctx, addr, req, timeout)
	s.requests.ends(ctx, q, resp)
	return resp, err
}

// send passes a request on and keeps it while it may wait.
func (s *lockSpy) send(
	ctx context.Context, addr string, req *tikvrpc.Request, timeout time.Duration,
) (*tikvrpc.Response, error) {
	if req.Type != tikvrpc.CmdPessimisticLock {
		resp, err := s.Client.SendRequest(ctx, addr, req, timeout)
		if ts := committed(req, resp); err == nil && ts != 0 {
			s.mu.Lock()
			delete(s.owners, ts)
			s.mu.Unlock()
		}
		return resp, err
	}
	p := req.PessimisticLock()
	conn, _ := ctx.Value(util.SessionID).(uint64)
	l := &lockRequest{startTS: p.StartVersion, conn: conn, addr: addr}
	l.context = kvrpcpb.Context{
		RegionId: req.Context.RegionId, RegionEpoch: req.Context.RegionEpoch, Peer: req.Context.Peer,
	}
	s.owns(l)
	if p.WaitTimeout == lockNoWait {
		return s.Client.SendRequest(ctx, addr, req, timeout)
	}
	l.keys = make([][]byte, len(p.Mutations))
	for i, m := range p.Mutations {
		l.keys[i] = m.Key
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

// waits says that a lock request of a connection is under way for a key that another transaction has locked.
func (s *lockSpy) waits(ctx context.Context, conn uint64) bool {
	for _, l := range s.of([]uint64{conn}) {
		locks, err := s.locks(ctx, l)
		if err != nil {
			return false
		}
		for _, k := range l.keys {
			if holder, locked := locks[string(k)]; locked && holder != l.startTS {
				return true
			}
		}
	}
	return false
}

// owns notes that the transaction of a request belongs to a connection, whose former one is over.
func (s *lockSpy) owns(l *lockRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.latest[l.conn]; was == nil || was.startTS != l.startTS {
		if was != nil {
			delete(s.owners, was.startTS)
		}
		s.owners[l.startTS] = l.conn
	}
	s.latest[l.conn] = l
}

// holds reports whether the last transaction of a connection has not committed and has locked
// something.
func (s *lockSpy) holds(ctx context.Context, conn uint64) (bool, error) {
	s.mu.Lock()
	l := s.latest[conn]
	open := false
	if l != nil {
		_, open = s.owners[l.startTS]
	}
	s.mu.Unlock()
	if !open {
		return false, nil
	}
	locks, err := s.locks(ctx, l)
	for _, ts := range locks {
		if ts == l.startTS {
			return true, err
		}
	}
	return false, err
}

// forget drops what is known of a connection that is closed.
func (s *lockSpy) forget(conn uint64) {
	s.requests.forget(conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.latest[conn]; l != nil {
		delete(s.owners, l.startTS)
		delete(s.latest, conn)
	}
}

// owner returns the connection of a transaction that has not committed.
func (s *lockSpy) owner(startTS uint64) (conn uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	conn, ok = s.owners[startTS]
	return conn, ok
}

// committed returns the start timestamp of a transaction that is committed with
// the response to a request, 0 if none is: TiDB answers COMMIT then, and unlocks
// most keys later.
func committed(req *tikvrpc.Request, resp *tikvrpc.Response) uint64 {
	if resp == nil {
		return 0
	}
	switch r := resp.Resp.(type) {
	case *kvrpcpb.CommitResponse:
		if r.RegionError == nil && r.Error == nil {
			return req.Commit().StartVersion
		}
	case *kvrpcpb.PrewriteResponse:
		if r.RegionError == nil && len(r.Errors) == 0 && (r.OnePcCommitTs != 0 || r.MinCommitTs != 0) {
			return req.Prewrite().StartVersion
		}
	}
	return 0
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

// of returns the requests under way of some connections.
func (s *lockSpy) of(conns []uint64) []*lockRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*lockRequest
	for l := range s.pending {
		if slices.Contains(conns, l.conn) {
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
