package gitbisect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
)

// Options say what is searched, and how a commit is built and tried.
type Options struct {
	// Repository is a folder; Build a command for sh.
	Repository, Build string
	// Good and Bad are revisions; the finding is absent in Good and shows in Bad. Either may be the older one.
	Good, Bad string
	// Program is the path of the server below the folder that the command installs to, or below the worktree; "": it is
	// found by its name.
	Program string
	// Cache is the folder for builds, logs and worktrees.
	Cache string
	// FirstParent passes over the commits that merges have brought.
	FirstParent bool
	// Name is that of the case, for the log's file.
	Name string
	// Try says what a program does with the finding. An error is a reason to skip the commit.
	Try func(ctx context.Context, program string) (findings.OnBuild, error)
	// Tell receives lines for people while it goes on; passing ones say how a build gets on, and the next line may stand
	// in their place. nil: nobody reads them.
	Tell func(line string, passing bool)
	// Pace is the time between two passing lines.
	Pace time.Duration
}

func (o *Options) tell(format string, args ...any) { o.Tell(fmt.Sprintf(format, args...), false) }

// Direction says what a search is for.
type Direction string

const (
	// Introduced: the first commit that shows the finding.
	Introduced Direction = "introduced"
	// Fixed: the first commit that does not show it any more.
	Fixed Direction = "fixed"
)

// terms are the words of git bisect for the state before and behind the commit that is searched.
func (d Direction) terms() (old, younger findings.Presence) {
	if d == Fixed {
		return findings.Shows, findings.Absent
	}
	return findings.Absent, findings.Shows
}

// Tried is what became of one commit.
type Tried struct {
	Commit
	Presence findings.Presence `json:"presence"`
	Version  string            `json:"server_version,omitempty"`
	Runs     int               `json:"runs"`
	// Said is the verdict, or why there is none.
	Said string `json:"said"`
	// Kept says that an earlier search had built it; BuildLog is what the build has printed.
	Kept     bool   `json:"kept"`
	BuildLog string `json:"build_log"`
}

// Result is what a search has found. Its JSON keys are part of the command line's contract.
type Result struct {
	Repository string    `json:"repository"`
	Direction  Direction `json:"direction"`
	// First is the commit that was searched; nil if it is one of Candidates, of which all but the youngest could not be
	// tested.
	First      *Commit  `json:"first"`
	Candidates []Commit `json:"candidates,omitempty"`
	Tried      []Tried  `json:"tried"`
	// Log is the file with git's own log, which git bisect replay reads.
	Log string `json:"log"`
}

// Skipped are the commits that could not be tested.
func (r *Result) Skipped() (out []Tried) {
	for _, t := range r.Tried {
		if t.Presence == findings.Untestable {
			out = append(out, t)
		}
	}
	return out
}

// Header is the result in one line, as the header of a case has it.
func (r *Result) Header() string {
	if r.First != nil {
		return r.First.String()
	}
	const most = 5
	var ids []string
	for i := range r.Candidates {
		ids = append(ids, r.Candidates[i].Short())
	}
	if len(ids) > most {
		ids = append(ids[:most], fmt.Sprintf("%d more", len(ids)-most))
	}
	return "one of " + strings.Join(ids, ", ") + ", which could not all be tested"
}

// search is a search under way.
type search struct {
	*Options
	w      *worktree
	builds *builds
	// tried holds the commits in the order in which they were.
	tried []Tried
}

// Find searches. A *NameError says that the options name something that is not there. What was built by an interrupted
// search is kept, so that the next one soon comes to where that has ended.
func Find(ctx context.Context, o Options) (r *Result, err error) {
	if o.Pace <= 0 {
		o.Pace = 10 * time.Second
	}
	if o.Tell == nil {
		o.Tell = func(string, bool) {}
	}
	if o.Cache, err = filepath.Abs(o.Cache); err != nil {
		return nil, err
	}
	if strings.Contains(o.Cache, ":") {
		return nil, &NameError{fmt.Errorf("the cache folder %s has a colon in its name, which paths of libraries cannot hold", o.Cache)}
	}
	repo, err := open(ctx, o.Repository)
	if err != nil {
		return nil, err
	}
	good, err := repo.commit(ctx, o.Good)
	if err != nil {
		return nil, err
	}
	bad, err := repo.commit(ctx, o.Bad)
	if err != nil {
		return nil, err
	}
	if good.ID == bad.ID {
		return nil, &NameError{fmt.Errorf("%s and %s are the same commit, %s", o.Good, o.Bad, good.Short())}
	}
	s := search{Options: &o}
	if s.builds, err = newBuilds(&o); err != nil {
		return nil, err
	}
	if s.w, err = newWorktree(ctx, repo, filepath.Join(o.Cache, "worktrees"), bad); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.w.remove(ctx)) }()
	direction, old, younger, err := s.ends(ctx, good, bad)
	if err != nil {
		return nil, err
	}
	return s.between(ctx, direction, old, younger)
}

// ends checks what the user has said of the two commits, and tells which way the search goes. If neither is an ancestor
// of the other, the commit at which they part says on which side the finding came or went.
func (s *search) ends(ctx context.Context, good, bad Commit) (d Direction, old, younger Commit, err error) {
	fork, err := s.w.fork(ctx, good, bad)
	if err != nil {
		return d, old, younger, err
	}
	if err := s.must(ctx, bad, findings.Shows, "--bad"); err != nil {
		return d, old, younger, err
	}
	if err := s.must(ctx, good, findings.Absent, "--good"); err != nil {
		return d, old, younger, err
	}
	switch fork.ID {
	case good.ID:
		return Introduced, good, bad, nil
	case bad.ID:
		return Fixed, bad, good, nil
	}
	s.tell("%s and %s are on two branches, which part at %s", good.Short(), bad.Short(), fork.Short())
	switch t, err := s.try(ctx, fork); {
	case err != nil:
		return d, old, younger, err
	case t.Presence == findings.Untestable:
		return d, old, younger, fmt.Errorf("%s, at which the branches of --good and --bad part, could not be tested: %s; see %s", fork.Short(), t.Said, t.BuildLog)
	case t.Presence == findings.Shows:
		s.tell("it shows there, too: the search is for the commit that fixed it before %s", good.Short())
		return Fixed, fork, good, nil
	}
	s.tell("it is absent there, too: the search is for the commit with which it came before %s", bad.Short())
	return Introduced, fork, bad, nil
}

// must tries one of the two commits that the user has named.
func (s *search) must(ctx context.Context, c Commit, want findings.Presence, flag string) error {
	t, err := s.try(ctx, c)
	if err != nil {
		return err
	}
	switch {
	case t.Presence == findings.Untestable:
		return fmt.Errorf("%s %s could not be tested: %s; see %s", flag, c.Short(), t.Said, t.BuildLog)
	case (t.Presence == findings.Shows) != (want == findings.Shows):
		return fmt.Errorf("%s is wrong: in %s the finding %s (%s)", flag, c.Short(), is(t.Presence), t.Said)
	}
	return nil
}

func is(p findings.Presence) string {
	if p == findings.Absent {
		return "is absent"
	}
	return string(p)
}

// between searches between two commits. Git takes each ancestor of a commit in the old state for one in that state, too;
// that is wrong where a branch parted before the finding came, and was merged behind old, by which the finding goes:
// on this branch it was absent all the time. So the parents of what git answers are tried as well. If none of them is in
// the old state, the answer's branch is left out, and the search begins again with what has been tried.
func (s *search) between(ctx context.Context, d Direction, old, younger Commit) (*Result, error) {
	olds := []string{old.ID}
	for {
		r, err := s.bisect(ctx, d, younger, olds)
		if err != nil || r.First == nil {
			return r, err
		}
		turns, err := s.turns(ctx, d, r.First)
		if err != nil {
			return nil, err
		}
		if turns {
			r.Tried = s.tried
			return r, nil
		}
		s.tell("%s does as the commit before it: its branch, which parted before %s, is left out", r.First.Short(), old.Short())
		branch, err := s.w.branch(ctx, *r.First, old, younger)
		if err != nil {
			return nil, err
		}
		if slices.Contains(branch, younger.ID) {
			return nil, fmt.Errorf("%s does as the commit before it, though git takes it for the first: no commit between %s and %s can be told",
				r.First.Short(), old.Short(), younger.Short())
		}
		olds = append(olds, branch...)
	}
}

// turns says that some parent of a commit is in the old state, or that none of its parents can be tested.
func (s *search) turns(ctx context.Context, d Direction, c *Commit) (bool, error) {
	before, _ := d.terms()
	parents, err := s.w.parents(ctx, c)
	if err != nil {
		return false, err
	}
	tested := false
	for _, p := range parents {
		t, err := s.try(ctx, p)
		if err != nil {
			return false, err
		}
		if t.Presence == findings.Untestable {
			continue
		}
		tested = true
		if term(t.Presence) == string(before) {
			return true, nil
		}
	}
	return !tested, nil
}

// bisect lets git choose the commits. The worktree's HEAD stays where it is: a commit whose build is kept need not be
// checked out.
func (s *search) bisect(ctx context.Context, d Direction, younger Commit, olds []string) (*Result, error) {
	before, behind := d.terms()
	start := []string{"bisect", "start", "--no-checkout", "--term-old=" + string(before), "--term-new=" + string(behind)}
	if s.FirstParent {
		start = append(start, "--first-parent")
	}
	start = append(append(start, younger.ID), olds...)
	said, err := s.w.git(ctx, append(start, "--")...)
	for {
		log, logErr := s.w.git(context.WithoutCancel(ctx), "bisect", "log")
		if logErr != nil {
			return nil, errors.Join(err, logErr)
		}
		file, logErr := s.keepLog(d, olds[0], younger, log)
		if logErr != nil {
			return nil, logErr
		}
		first, candidates := conclusion(log)
		if first != "" || len(candidates) > 0 {
			return s.result(ctx, d, first, candidates, file)
		}
		if err != nil {
			return nil, err
		}
		id, err2 := s.w.git(ctx, "rev-parse", "--verify", "BISECT_HEAD")
		if err2 != nil {
			return nil, err2
		}
		s.tell("%s", firstLine(said))
		c, err2 := s.w.describe(ctx, id)
		if err2 != nil {
			return nil, err2
		}
		t, err2 := s.try(ctx, c)
		if err2 != nil {
			return nil, err2
		}
		if t.Presence == findings.Untestable {
			s.tell("%s is skipped", c.Short())
		}
		said, err = s.w.git(ctx, "bisect", term(t.Presence), c.ID)
	}
}

// term is git's word for what a commit does. One that is wrong in another way does not show the finding.
func term(p findings.Presence) string {
	switch p {
	case findings.Untestable:
		return "skip"
	case findings.Otherwise:
		return string(findings.Absent)
	}
	return string(p)
}

// The lines that git bisect writes into its log when it is done.
var (
	firstPattern    = regexp.MustCompile(`(?m)^# first [^ ]+ commit: \[([0-9a-f]+)\]`)
	possiblePattern = regexp.MustCompile(`(?m)^# possible first [^ ]+ commit: \[([0-9a-f]+)\]`)
)

func conclusion(log string) (first string, candidates []string) {
	if m := firstPattern.FindStringSubmatch(log); m != nil {
		return m[1], nil
	}
	for _, m := range possiblePattern.FindAllStringSubmatch(log, -1) {
		if !slices.Contains(candidates, m[1]) {
			candidates = append(candidates, m[1])
		}
	}
	return "", candidates
}

// keepLog writes git's log as far as it goes.
func (s *search) keepLog(d Direction, old string, younger Commit, log string) (string, error) {
	name := fmt.Sprintf("%s-%s-%.12s-%s.bisect", s.Name, d, old, younger.Short())
	path := filepath.Join(s.builds.dir, name)
	return path, wholefile.Write(path, []byte(log+"\n"))
}

func (s *search) result(ctx context.Context, d Direction, first string, candidates []string, log string) (*Result, error) {
	r := &Result{Repository: s.Repository, Direction: d, Tried: s.tried, Log: log}
	if first != "" {
		c, err := s.w.describe(ctx, first)
		r.First = &c
		return r, err
	}
	for _, id := range candidates {
		c, err := s.w.describe(ctx, id)
		if err != nil {
			return nil, err
		}
		r.Candidates = append(r.Candidates, c)
	}
	return r, nil
}

// try builds a commit and says what it does with the finding. Only what ends the whole search is an error.
func (s *search) try(ctx context.Context, c Commit) (Tried, error) {
	for _, t := range s.tried {
		if t.ID == c.ID {
			return t, nil
		}
	}
	t := Tried{Commit: c, Presence: findings.Untestable, BuildLog: s.builds.log(c)}
	b, err := s.builds.of(ctx, s.w, c)
	if err == nil {
		var on findings.OnBuild
		on, err = s.Try(ctx, b.program)
		t.Presence, t.Version, t.Runs, t.Said, t.Kept = on.Presence, on.Version, on.Runs, on.Said, b.kept
	}
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	var unbuilt *buildError
	switch {
	case err == nil:
	case errors.As(err, &unbuilt), b.program != "":
		t.Presence, t.Said = findings.Untestable, strings.Join(strings.Fields(err.Error()), " ")
	default:
		return t, err
	}
	s.tried = append(s.tried, t)
	s.tell("%s: %s: %s", c.String(), t.Presence, t.Said)
	return t, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// DefaultCache is the folder for builds that is used where none is named.
func DefaultCache() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(dir, "txnfuzz", "builds"), nil
}
