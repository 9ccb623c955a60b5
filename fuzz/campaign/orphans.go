package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
)

// crashReduce bounds the reduction of a crash: every candidate is a process of
// its own, which for the embedded TiDB takes one to two seconds.
const crashReduce = 3 * time.Minute

// Orphans looks into the cases that were running on a target when a process
// died: it runs each in a child, and reduces those that take it down again. It
// returns what was found; text is what the process wrote as it died, if known.
func Orphans(ctx context.Context, s Settings, text string) ([]findings.Finding, error) {
	paths, err := harness.InFlightOrphans(InFlightDir(s.Out, s.Target))
	reducing, e := harness.InFlightOrphans(reducingDir(s.Out, s.Target))
	paths, err = append(paths, reducing...), errors.Join(err, e)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	if text != "" {
		// Looking into them takes minutes, and may be cut off.
		for _, path := range paths {
			if err := wholefile.Write(findings.LogFile(path), []byte(text)); err != nil {
				return nil, err
			}
		}
	}
	store, err := findings.OpenStore(s.Out)
	if err != nil && s.Progress != nil {
		fmt.Fprintf(s.Progress, "warning: findings of earlier runs: %v\n", err)
	}
	j := &target.ChildJudge{Target: s.Target}
	k := findings.ForOrphans(store, j.Judge)
	k.Strict, k.Logf = s.Strict, s.logf
	if s.Reduce > 0 {
		k.ReduceFor = max(s.Reduce, crashReduce)
	}
	var errs []error
	for _, path := range paths {
		if ctx.Err() != nil {
			break // the file stays for the next time
		}
		s.logf("a process died while it ran %s", path)
		if err := k.Orphan(ctx, j, path); err != nil {
			errs = append(errs, err)
		}
	}
	for _, dir := range []string{InFlightDir(s.Out, s.Target), reducingDir(s.Out, s.Target)} {
		_ = os.Remove(dir) // stays where something is left
	}
	return k.Findings(), errors.Join(errs...)
}

// logf writes a line for people, where some are to be told.
func (s *Settings) logf(format string, args ...any) {
	if s.Progress != nil {
		fmt.Fprintf(s.Progress, format+"\n", args...)
	}
}
