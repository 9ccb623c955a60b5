package target

import "github.com/txnfuzz/txnfuzz/harness"

// AskForAll has the server asked for what is plain, too.
func (t *Target) AskForAll() { t.plain.always = true }

// BackendOf returns what a target runs its cases on.
func BackendOf(t *Target) harness.Backend { return t.backend }
