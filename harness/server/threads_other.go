//go:build !linux

package server

import (
	"context"

	"github.com/txnfuzz/txnfuzz/harness"
)

// threads sees nothing where there is no /proc.
type threads struct{}

func newThreads(int, method) *threads { return nil }

func (*threads) learn(context.Context, *side, []uint64) error { return nil }

func (*threads) Watch(uint64) harness.Sight { return harness.Sight{} }

func (*threads) close() {}
