package findings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// crashTries is how often a case that ran when its process died is run before
// it is taken for a bystander.
const crashTries = 3

// Orphan looks into one case and removes its file once it is kept elsewhere.
func (k *Keeper) Orphan(ctx context.Context, j *target.ChildJudge, path string) error {
	c, err := corpus.Load(path)
	if err != nil {
		// Cut off while it was written: the case had not begun.
		k.Logf("%v", err)
		return setCaseAside(k.Store.dir, path)
	}
	from := Origin{Input: "unknown; the case was found in " + filepath.Base(path), FirstSeen: time.Now().UTC().Format(time.RFC3339)}
	levels := target.LevelsFor(c, corpus.RepeatableRead)
	var r target.Trial
	for range crashTries {
		r = j.Judge(ctx, c, levels)
		k.At = Place{Target: target.Redact(j.Target), Server: j.Server()}
		if r.Verdict.Kind == oracle.ServerCrash && target.Ours(r.Log) {
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
	if log, err := os.ReadFile(LogFile(path)); err == nil {
		text = string(log)
	}
	r.Verdict, r.History, r.Log = target.CrashVerdict(text), nil, text
	f, first := k.claim(&r, "-"+corpus.ID(c)[:6])
	if first {
		k.set(func() { f.Reproduced = 0 })
		if err := k.write(f, &r, from); err != nil {
			return err
		}
		if f.Saved {
			if f.File, err = k.Store.setAside(f.ID); err != nil {
				return err
			}
		}
	}
	return forget(path)
}

// forget removes the file of an orphan and the log beside it.
func forget(path string) error {
	if err := os.Remove(LogFile(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	if err := os.Rename(LogFile(path), to+".log"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("set %s aside: %w", path, err)
	}
	if err := os.Rename(path, to); err != nil {
		return fmt.Errorf("set %s aside: %w", path, err)
	}
	return nil
}
