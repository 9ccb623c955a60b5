package gitbisect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// NameError says that the options name something that is not there.
type NameError struct{ Err error }

func (e *NameError) Error() string { return e.Err.Error() }
func (e *NameError) Unwrap() error { return e.Err }

// Commit is a commit as people want to read of it.
type Commit struct {
	// ID has 40 digits, or 64 in a repository of SHA-256.
	ID string `json:"commit"`
	// Date is the author's, as YYYY-MM-DD.
	Date    string `json:"date"`
	Subject string `json:"subject"`
}

// Short is the commit by the twelve digits that mails and trackers name it by.
func (c *Commit) Short() string { return c.ID[:min(12, len(c.ID))] }

func (c *Commit) String() string { return fmt.Sprintf("%s (%s) %s", c.Short(), c.Date, c.Subject) }

// repository is a folder in which git runs.
type repository string

// ofHooks are variables that git sets for its hooks: from within one they would lead git to another repository.
// https://git-scm.com/docs/githooks
var ofHooks = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_CEILING_DIRECTORIES",
}

func environment(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains(ofHooks, name)
	})
	return append(env, more...)
}

// git runs git there, without the user's hooks, and returns what it prints, less the last line's end.
func (r repository) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=" + os.DevNull, "-C", string(r)}, args...)...)
	cmd.Env = environment("LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	out := strings.TrimRight(stdout.String(), "\n")
	switch {
	case ctx.Err() != nil:
		return out, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return out, errors.New("git is not on the PATH")
	case err != nil:
		return out, fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()+" "+stdout.String()))
	}
	return out, nil
}

// open checks that a folder is, or lies in, a git repository.
func open(ctx context.Context, dir string) (repository, error) {
	r := repository(dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return r, &NameError{fmt.Errorf("%s is no folder; want a clone of the server's repository", dir)}
	}
	_, err := r.git(ctx, "rev-parse", "--git-dir")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return r, &NameError{fmt.Errorf("%s is no git repository: %w", dir, err)}
	}
	return r, err
}

// commit finds what a revision names: a branch, a tag, a part of an id.
func (r repository) commit(ctx context.Context, revision string) (Commit, error) {
	id, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return Commit{}, &NameError{fmt.Errorf("there is no commit %q in %s", revision, r)}
	}
	if err != nil {
		return Commit{}, err
	}
	return r.describe(ctx, id)
}

func (r repository) describe(ctx context.Context, id string) (Commit, error) {
	out, err := r.git(ctx, "log", "-1", "--format=%ad%n%s", "--date=format:%Y-%m-%d", id, "--")
	date, subject, _ := strings.Cut(out, "\n")
	return Commit{id, date, subject}, err
}

// fork returns the commit at which two lines of development part.
func (r repository) fork(ctx context.Context, a, b Commit) (Commit, error) {
	id, err := r.git(ctx, "merge-base", a.ID, b.ID)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return Commit{}, &NameError{fmt.Errorf("%s and %s have no commit in common", a.Short(), b.Short())}
	}
	if err != nil {
		return Commit{}, err
	}
	return r.describe(ctx, id)
}

// parents returns those of a commit, none for the first of a repository.
func (r repository) parents(ctx context.Context, c *Commit) (out []Commit, err error) {
	ids, err := r.git(ctx, "log", "-1", "--format=%P", c.ID, "--")
	if err != nil {
		return nil, err
	}
	for id := range strings.FieldsSeq(ids) {
		p, err := r.describe(ctx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// branch returns the ids of a commit and of those after it, up to younger, of which old is no ancestor.
func (r repository) branch(ctx context.Context, from, old, younger Commit) ([]string, error) {
	all, err := r.git(ctx, "rev-list", "--ancestry-path", from.ID+".."+younger.ID)
	if err != nil {
		return nil, err
	}
	behind, err := r.git(ctx, "rev-list", "--ancestry-path", old.ID+".."+younger.ID)
	if err != nil {
		return nil, err
	}
	later := strings.Fields(behind)
	out := slices.DeleteFunc(strings.Fields(all), func(id string) bool { return slices.Contains(later, id) })
	return append(out, from.ID), nil
}
