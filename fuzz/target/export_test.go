package target

import (
	"context"

	"github.com/txnfuzz/txnfuzz/harness"
)

// AskForAll has the server asked for what is plain, too.
func (t *Target) AskForAll() { t.plain.always = true }

// BackendOf returns what a target runs its cases on.
func BackendOf(t *Target) harness.Backend { return t.backend }

// CutOffAtRebuild has cancel called when the replica of a target is begun anew.
func CutOffAtRebuild(t *Target, cancel func()) {
	t.backend = &cutOff{t.backend.(replicatedWired), cancel}
}

type replicatedWired interface {
	harness.Replicated
	harness.Wired
}

type cutOff struct {
	replicatedWired
	cancel func()
}

func (c *cutOff) Rebuild(ctx context.Context) error {
	c.cancel()
	return c.replicatedWired.Rebuild(ctx)
}
