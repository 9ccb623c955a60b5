package fuzz

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/harness"
)

// crashReduce bounds the reduction of a crash: every candidate is a process of
// its own, which for the embedded TiDB takes one to two seconds.
const crashReduce = 3 * time.Minute

// crashTries is how often a case that ran when its process died is run before
// it is taken for a bystander.
const crashTries = 3

// Orphans looks into the cases that were running on a target when a process
// died: it runs each in a child, and reduces those that take it down again. It
// returns what was found; text is what the process wrote as it died, if known.
func Orphans(ctx context.Context, s Settings, text string) ([]Finding, error) {
	paths, err := harness.InFlightOrphans(InFlightDir(s.Out, s.Target))
	reducing, e := harness.InFlightOrphans(reducingDir(s.Out, s.Target))
	paths, err = append(paths, reducing...), errors.Join(err, e)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	if text != "" {
		// Looking into them takes minutes, and may be cut off.
		for _, path := range paths {
			if err := wholefile.Write(logFile(path), []byte(text)); err != nil {
				return nil, err
			}
		}
	}
	store, err := OpenStore(s.Out)
	if err != nil && s.Progress != nil {
		fmt.Fprintf(s.Progress, "warning: findings of earlier runs: %v\n", err)
	}
	j := &childJudge{target: s.Target}
	k := orphanKeeper(store, j.judge)
	k.strict, k.logf = s.Strict, s.logf
	if s.Reduce > 0 {
		k.reduceFor = max(s.Reduce, crashReduce)
	}
	var errs []error
	for _, path := range paths {
		if ctx.Err() != nil {
			break // the file stays for the next time
		}
		s.logf("a process died while it ran %s", path)
		if err := k.orphan(ctx, j, path); err != nil {
			errs = append(errs, err)
		}
	}
	for _, dir := range []string{InFlightDir(s.Out, s.Target), reducingDir(s.Out, s.Target)} {
		_ = os.Remove(dir) // stays where something is left
	}
	return k.Findings(), errors.Join(errs...)
}

func (s *Settings) logf(format string, args ...any) {
	if s.Progress != nil {
		fmt.Fprintf(s.Progress, format+"\n", args...)
	}
}

// orphan looks into one case and removes its file once it is kept elsewhere.
func (k *Keeper) orphan(ctx context.Context, j *childJudge, path string) error {
	c, err := corpus.Load(path)
	if err != nil {
		// Cut off while it was written: the case had not begun.
		k.logf("%v", err)
		return setCaseAside(k.store.dir, path)
	}
	from := origin{input: "unknown; the case was found in " + filepath.Base(path), firstSeen: time.Now().UTC().Format(time.RFC3339)}
	levels := LevelsFor(c, corpus.RepeatableRead)
	var r Trial
	for range crashTries {
		r = j.judge(ctx, c, levels)
		k.at = place{target: Redact(j.target), server: j.Server()}
		if r.Verdict.Kind == KindCrash && ours(r.Log) {
			return fmt.Errorf("a defect of txnfuzz itself shows with %s:\n%s", path, r.Log)
		}
		if k.wrong(&r.Verdict) {
			if _, _, err := k.Consider(ctx, &r, from); err != nil {
				return err
			}
			return forget(path)
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	// It does not show again; what the dead process said is all there is.
	text := "the process died"
	if log, err := os.ReadFile(logFile(path)); err == nil {
		text = string(log)
	}
	r.Verdict, r.History, r.Log = crashVerdict(text), nil, text
	f, first := k.claim(&r, "-"+corpus.ID(c)[:6])
	if first {
		k.set(func() { f.Reproduced = 0 })
		if err := k.write(f, &r, from); err != nil {
			return err
		}
		if f.Saved {
			if f.File, err = k.store.setAside(f.ID); err != nil {
				return err
			}
		}
	}
	return forget(path)
}

// forget removes the file of an orphan and the log beside it.
func forget(path string) error {
	if err := os.Remove(logFile(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Remove(path)
}

// setCaseAside keeps the text of a case that cannot be read, and the log.
func setCaseAside(out, path string) error {
	dir := filepath.Join(out, unreproduced)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("set %s aside: %w", path, err)
	}
	to := filepath.Join(dir, filepath.Base(path)+".cut")
	if err := os.Rename(logFile(path), to+".log"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set %s aside: %w", path, err)
	}
	if err := os.Rename(path, to); err != nil {
		return fmt.Errorf("set %s aside: %w", path, err)
	}
	return nil
}
