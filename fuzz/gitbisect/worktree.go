package gitbisect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/harness/filelock"
)

// cleaning bounds the removal of a worktree behind an interrupted run.
const cleaning = time.Minute

const lockEnding = ".lock"

// worktree is a checkout of a repository beside the user's own, in which git bisect runs.
type worktree struct {
	repository
	of     repository
	unlock func()
}

// newWorktree makes one in the folder dir. Nothing is checked out yet.
func newWorktree(ctx context.Context, of repository, dir string, at Commit) (w *worktree, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of worktrees: %w", err)
	}
	if err := sweep(ctx, dir); err != nil {
		return nil, err
	}
	path, unlock, err := newPlace(dir)
	if err != nil {
		return nil, fmt.Errorf("make a worktree: %w", err)
	}
	w = &worktree{repository: repository(path), of: of, unlock: unlock}
	if _, err := of.git(ctx, "worktree", "add", "--quiet", "--detach", "--no-checkout", string(w.repository), at.ID); err != nil {
		return nil, errors.Join(fmt.Errorf("make a worktree: %w", err), w.remove(ctx))
	}
	return w, nil
}

// newPlace returns a path for a worktree, with its lock: that is there before the worktree, so that no other run takes it
// for one that was left behind.
func newPlace(dir string) (path string, unlock func(), err error) {
	for {
		f, err := os.CreateTemp(dir, "bisect-*"+lockEnding)
		if err != nil {
			return "", nil, err
		}
		_ = f.Close()
		unlock, err := filelock.Try(f.Name())
		if errors.Is(err, filelock.ErrHeld) { // by another run, which removes it
			continue
		}
		return strings.TrimSuffix(f.Name(), lockEnding), unlock, err
	}
}

// checkout replaces what is there by a commit. What a build has changed of the commit's files is undone; the other
// files that it has made stay, so that the next build need not make all of them again.
func (w *worktree) checkout(ctx context.Context, c Commit) error {
	_, err := w.git(ctx, "checkout", "--quiet", "--force", "--detach", c.ID)
	return err
}

// remove also works when the context has ended.
func (w *worktree) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaning)
	defer cancel()
	defer w.unlock()
	return discard(ctx, w.of, string(w.repository))
}

// discard removes a worktree, what git knows of it, and its lock.
func discard(ctx context.Context, of repository, path string) error {
	// Given twice, --force also removes one that somebody has locked. What git does not know is not there for it.
	_, failed := of.git(ctx, "worktree", "remove", "--force", "--force", path)
	var err error
	for range 3 { // the rest of a build that was killed may still write
		if err = os.RemoveAll(path); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("remove the worktree %s: %w", path, errors.Join(err, failed))
	}
	if err := os.Remove(path + lockEnding); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the worktree %s: %w", path, err)
	}
	return nil
}

// sweep removes the worktrees that killed runs have left in the folder.
func sweep(ctx context.Context, dir string) error {
	locks, err := filepath.Glob(filepath.Join(dir, "*"+lockEnding))
	if err != nil {
		return err
	}
	for _, l := range locks {
		unlock, err := filelock.Try(l)
		if errors.Is(err, filelock.ErrHeld) {
			continue
		}
		if err != nil {
			return fmt.Errorf("sweep %s: %w", dir, err)
		}
		path := strings.TrimSuffix(l, lockEnding)
		err = discard(ctx, mainOf(path), path)
		unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// mainOf returns the repository of a worktree, which its file .git names: "gitdir: /repo/.git/worktrees/NAME".
func mainOf(path string) repository {
	text, _ := os.ReadFile(filepath.Join(path, ".git"))
	admin := strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:"))
	return repository(filepath.Dir(filepath.Dir(admin)))
}
