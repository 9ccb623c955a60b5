package findings

import (
	"context"
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
)

// ground is where the cases of one reduction run.
type ground struct {
	at     Place
	judge  target.JudgeFunc
	fresh  *target.FreshServers // where what is left is confirmed
	levels []corpus.Level
	close  func() error // nil: it is somebody else's
}

// groundOpener starts a target by its name for a reduction alone.
type groundOpener func(ctx context.Context, name string) (*ground, error)

// openGround starts a target for a reduction alone.
func openGround(ctx context.Context, name string) (*ground, error) {
	t, err := target.Open(ctx, name, target.Options{Workers: 1, Clean: true})
	if err != nil {
		return nil, err
	}
	return &ground{Place{Target: t.Name, Server: t.Server()}, t.Judge, target.FreshOf(name), t.Levels(), t.Close}, nil
}

// leave ends what was started for a reduction.
func (g *ground) leave() error {
	if g == nil || g.close == nil {
		return nil
	}
	if err := g.fresh.End(); err != nil {
		_ = g.close()
		return fmt.Errorf("end an instance of %s: %w", g.at.Target, err)
	}
	if err := g.close(); err != nil {
		return fmt.Errorf("close target %s: %w", g.at.Target, err)
	}
	return nil
}

// shrinking looks for the simplest topology that still shows a finding. It asks each one once: a start takes from a
// tenth of a second (one server) to twelve seconds (a group).
type shrinking struct {
	open groundOpener
	// want is the finding, repeats how often a case runs before it counts as free of it.
	want    *target.Trial
	repeats int
	logf    func(format string, args ...any)
	tried   map[string]bool
	// kept are the names that showed it, by when they were tried.
	kept []timeline.Reduced
}

// newShrinking is for a finding that showed in some of ten runs; nil if it was found on one server.
func newShrinking(
	open groundOpener, on string, r *target.Trial, reproduced Rate, logf func(format string, args ...any),
) *shrinking {
	if !target.OfSeveral(on) {
		return nil
	}
	return &shrinking{open: open, want: r, repeats: repeatsFor(reproduced), logf: logf, tried: map[string]bool{}}
}

// simplest returns the simplest topology on which a case shows the finding; nil: none is simpler than the one named.
// The caller leaves it.
func (s *shrinking) simplest(ctx context.Context, name string, c *corpus.Case) (best *ground) {
	if s == nil {
		return nil
	}
	last := 0
	for _, l := range c.Steps {
		last = max(last, l.Session)
	}
	for {
		next := s.first(ctx, target.SimplerTopologies(name, last, !s.want.Verdict.Kind.OfReplica()), c)
		if next == nil {
			return best
		}
		s.left(best.leave())
		best, name = next, next.at.Target
	}
}

// first returns the first of some topologies on which a case shows the finding.
func (s *shrinking) first(ctx context.Context, names []string, c *corpus.Case) *ground {
	for _, name := range names {
		if s.tried[name] || ctx.Err() != nil {
			continue
		}
		s.tried[name] = true
		g, err := s.open(ctx, name)
		if err != nil {
			if ctx.Err() == nil {
				s.left(err)
			}
			continue
		}
		if s.shows(ctx, g, c) {
			s.kept = append(s.kept, timeline.Reduced{Attempt: len(s.tried), Layer: topologyLayer, Operation: name})
			s.logf("%s shows on %s, too", s.want.Verdict.Fingerprint, name)
			return g
		}
		s.left(g.leave())
	}
	return nil
}

// topologyLayer is the layer of a reduction in which the target gets simpler.
const topologyLayer = "topology"

func (s *shrinking) shows(ctx context.Context, g *ground, c *corpus.Case) bool {
	for range s.repeats {
		r := g.judge(ctx, c, target.LevelsFor(c, corpus.RepeatableRead))
		if r.Dead != nil || ctx.Err() != nil {
			return false
		}
		if r.Verdict.Kind == s.want.Verdict.Kind && r.Verdict.Fingerprint == s.want.Verdict.Fingerprint {
			return true
		}
	}
	return false
}

// left tells of a topology that could not be tried, or not be ended: the finding stays where it was.
func (s *shrinking) left(err error) {
	if err != nil {
		s.logf("look for a simpler topology that shows %s: %v", s.want.Verdict.Fingerprint, target.OneLine(err.Error()))
	}
}

// path puts the topologies that were kept, of which some came before the candidates of a reduction, among these.
func (s *shrinking) path(r *timeline.Reduction, before, triedBefore int) {
	for i := range s.kept {
		if i < before {
			s.kept[i].Lines, s.kept[i].Characters = r.LinesBefore, r.CharactersBefore
		} else {
			s.kept[i].Lines, s.kept[i].Characters = r.LinesAfter, r.CharactersAfter
			s.kept[i].Attempt += r.Attempts
		}
	}
	for i := range r.Path {
		r.Path[i].Attempt += triedBefore
	}
	r.Attempts += len(s.tried)
	r.Path = slices.Concat(s.kept[:before], r.Path, s.kept[before:])
}
