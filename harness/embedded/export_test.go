//go:build !notidb

package embedded

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
)

// ForgetsLocks is a fault that tests plant in the store: it answers a lock request as if it kept the lock.
var ForgetsLocks atomic.Bool

func init() {
	beneath = func(c tikv.Client) tikv.Client { return forgetful{c} }
}

type forgetful struct{ tikv.Client }

func (f forgetful) SendRequest(
	ctx context.Context, addr string, req *tikvrpc.Request, timeout time.Duration,
) (*tikvrpc.Response, error) {
	if !ForgetsLocks.Load() || connOf(ctx) == 0 {
		return f.Client.SendRequest(ctx, addr, req, timeout)
	}
	if p, ok := req.Req.(*kvrpcpb.PrewriteRequest); ok {
		p.ForUpdateTsConstraints = nil // it must not miss them
		for i := range p.PessimisticActions {
			p.PessimisticActions[i] = kvrpcpb.PrewriteRequest_SKIP_PESSIMISTIC_CHECK
		}
	}
	resp, err := f.Client.SendRequest(ctx, addr, req, timeout)
	if p, ok := req.Req.(*kvrpcpb.PessimisticLockRequest); ok && err == nil {
		undo := &kvrpcpb.PessimisticRollbackRequest{StartVersion: p.StartVersion, ForUpdateTs: p.ForUpdateTs}
		for _, m := range p.Mutations {
			undo.Keys = append(undo.Keys, m.Key)
		}
		rollback := tikvrpc.NewRequest(tikvrpc.CmdPessimisticRollback, undo, req.Context)
		_, err = f.Client.SendRequest(ctx, addr, rollback, timeout)
	}
	return resp, err
}
