//go:build amd64

package server

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/pause"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Holder implements harness.Holdable for servers that have a thread for each connection.
func (b *private) Holder(ctx context.Context) (harness.Holder, error) {
	if b.server.DBMS == history.TiDB {
		return nil, &harness.UnheldError{Reason: "the sessions of TiDB are no threads of the system; requests to the " +
			"store are held in the built-in TiDB, --target embedded"}
	}
	b.mu.Lock()
	p := b.current
	b.mu.Unlock()
	h, err := newHolder(b.in.binary, p.pid)
	if err != nil {
		return nil, err
	}
	query := threadQueries[status]
	if b.server.DBMS == history.MySQL {
		query = threadQueries[lockTables]
	}
	ask := &side{to: b}
	h.threadOf = func(ctx context.Context, conn uint64) (tid int, err error) {
		err = ask.each(ctx, fmt.Sprintf(query, fmt.Sprint(conn)), func(row []driver.Value) {
			if n, err := number(row[1]); err == nil {
				tid = int(n)
			}
		})
		return tid, err
	}
	h.done = ask.Close
	return h, nil
}

// newHolder holds threads of the process of a server, or of those that it forked.
func newHolder(binary string, pid int) (*holder, error) {
	image, err := pause.Open(binary)
	if err != nil {
		return nil, &harness.UnheldError{Reason: err.Error()}
	}
	base, err := image.Base(pid)
	if err != nil {
		return nil, &harness.UnheldError{Reason: err.Error()}
	}
	tracer, err := pause.New()
	if err != nil {
		return nil, &harness.UnheldError{Reason: err.Error()}
	}
	return &holder{image: image, base: base, tracer: tracer, tids: map[uint64]int{}}, nil
}

// holder holds threads of one private server.
type holder struct {
	// threadOf tells the system's id of the thread that serves a connection, 0 if none does; done ends that.
	threadOf func(ctx context.Context, conn uint64) (tid int, err error)
	done     func() error
	image    *pause.Image
	base     uint64
	tracer   *pause.Tracer
	tids     map[uint64]int // of connections
}

// Close lets all threads go.
func (h *holder) Close() error {
	var errs []error
	for _, tid := range h.tids {
		if err := h.tracer.Detach(tid); !errors.Is(err, unix.ESRCH) { // else it has ended
			errs = append(errs, err)
		}
	}
	h.tracer.Close()
	return errors.Join(append(errs, h.done())...)
}

// thread is the traced thread of a connection.
func (h *holder) thread(ctx context.Context, conn uint64) (int, error) {
	if tid, ok := h.tids[conn]; ok {
		return tid, nil
	}
	tid, err := h.threadOf(ctx, conn)
	if err != nil {
		return 0, fmt.Errorf("ask for the thread of connection %d: %w", conn, err)
	}
	if tid == 0 {
		return 0, &harness.UnheldError{Reason: fmt.Sprintf("the server tells no thread of connection %d", conn)}
	}
	if err := h.tracer.Attach(tid); err != nil {
		return 0, &harness.UnheldError{Reason: err.Error()}
	}
	for c, t := range h.tids { // a thread that serves another connection now
		if t == tid {
			delete(h.tids, c)
		}
	}
	h.tids[conn] = tid
	return tid, nil
}

// Arm implements harness.Holder.
func (h *holder) Arm(ctx context.Context, conn uint64, at *corpus.Hold) (harness.Holding, error) {
	if at.Request != "" {
		return nil, &harness.UnheldError{Reason: fmt.Sprintf(
			"%s sends no requests to a store: the place, %s, is one of TiDB (--target embedded)", h.image.Path, at.Where())}
	}
	if at.Build != h.image.Build {
		return nil, &harness.UnheldError{Reason: fmt.Sprintf(
			"the place is one of build %s, and %s is build %s (txnfuzz run --races FILE looks for one like it here)",
			at.Build, h.image.Path, h.image.Build)}
	}
	addr, ok := h.image.Address(at.Function, at.Offset)
	if !ok {
		return nil, &harness.UnheldError{Reason: h.image.Path + " has no place " + at.Where()}
	}
	tid, err := h.thread(ctx, conn)
	if err != nil {
		return nil, err
	}
	hit, err := h.tracer.Arm(tid, h.base+addr, at.Hit)
	if err != nil {
		return nil, err
	}
	return &holding{h.tracer, tid, hit}, nil
}

// Entry implements harness.Holder.
func (h *holder) Entry(function string) (*corpus.Hold, bool) {
	_, ok := h.image.Address(function, 0)
	return &corpus.Hold{Function: function, Build: h.image.Build, Hit: 1}, ok
}

type holding struct {
	tracer *pause.Tracer
	tid    int
	hit    <-chan struct{}
}

func (h *holding) Stands() bool {
	select {
	case <-h.hit: // else it need not be asked for
		return h.tracer.Held(h.tid)
	default:
		return false
	}
}

func (h *holding) Hit() <-chan struct{} { return h.hit }
func (h *holding) Release() error       { return h.tracer.Release(h.tid) }

// Record implements harness.Holder.
func (h *holder) Record(ctx context.Context, conn uint64, max int) (func() (harness.Trail, error), error) {
	tid, err := h.thread(ctx, conn)
	if err != nil {
		return nil, err
	}
	lo, hi := h.image.Bounds()
	end, err := h.tracer.Record(tid, h.base+lo, h.base+hi, max)
	if err != nil {
		return nil, err
	}
	return func() (harness.Trail, error) {
		addrs, err := end()
		if err != nil {
			return nil, err
		}
		t := &trail{image: h.image, addrs: addrs, hits: make([]int32, len(addrs))}
		count := make(map[uint64]int32, len(addrs)/4)
		for i := range addrs {
			addrs[i] -= h.base
			count[addrs[i]]++
			t.hits[i] = count[addrs[i]]
		}
		return t, nil
	}, nil
}

// trail is what a thread executed, as link-time addresses.
type trail struct {
	image *pause.Image
	addrs []uint64
	hits  []int32
}

func (t *trail) Len() int { return len(t.addrs) }

func (t *trail) At(i int) *corpus.Hold {
	function, offset := t.image.Name(t.addrs[i])
	return &corpus.Hold{Function: function, Offset: offset, Build: t.image.Build, Hit: int(t.hits[i])}
}
