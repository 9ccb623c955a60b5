package reduce

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Strategy says how the next operation class is chosen within a layer. It
// decides how fast a reduction is, not what it ends with being minimal in.
type Strategy uint8

const (
	// EpsilonGreedy takes the arm of highest expected gain, and with a
	// probability that decays any arm.
	EpsilonGreedy Strategy = iota
	// ProbabilityTable draws arms in proportion to their expected gain.
	ProbabilityTable
	// Random draws all arms alike.
	Random
	// DeltaDebug does without arms: ddmin over the lines (Zeller and
	// Hildebrandt, 2002), then the operations in their fixed order.
	DeltaDebug
)

var strategyTitles = [...]string{"epsilon-greedy", "probability-table", "random", "delta-debug"}

func (s Strategy) String() string { return strategyTitles[s] }

// ParseStrategy reads the name of a strategy as String gives it.
func ParseStrategy(name string) (Strategy, error) {
	for i, t := range strategyTitles {
		if t == name {
			return Strategy(i), nil
		}
	}
	return 0, fmt.Errorf("unknown reduction strategy %q: want one of %v", name, strategyTitles)
}

// The share of random choices falls from epsilonFirst to epsilonLast, by a
// factor e every epsilonPace attempts.
const (
	epsilonFirst = 0.3
	epsilonLast  = 0.05
	epsilonPace  = 60
)

// Means holds what is known of an arm.
type Means struct {
	// Count is the number of attempts, Mean the share of them that still
	// showed the bug.
	Count int     `json:"count"`
	Mean  float64 `json:"mean"`
}

// update adds one profit to the true mean.
func (m *Means) update(profit float64) {
	m.Count++
	m.Mean += (profit - m.Mean) / float64(m.Count)
}

// bandit chooses arms.
type bandit struct {
	strategy Strategy
	rng      *rand.Rand
	attempts int
	// prior is the experience that a reduction starts with, own what it saw.
	prior, own [armCount]Means
}

func newBandit(s Strategy, seed uint64, e *Experience) *bandit {
	b := &bandit{strategy: s, rng: rand.New(rand.NewPCG(seed, 0x7478_6e66_757a_7a))}
	if e != nil {
		for a := range armCount {
			b.prior[a] = e.Arms[a.String()]
		}
	}
	return b
}

func (b *bandit) epsilon() float64 {
	return epsilonLast + (epsilonFirst-epsilonLast)*math.Exp(-float64(b.attempts)/epsilonPace)
}

// priorWeight is how many attempts earlier reductions count for at most, so
// that a case that behaves otherwise is learnt soon.
const priorWeight = 8

// usualWeight is how many attempts an arm's usual profit counts for where there
// is no experience.
const usualWeight = 2

// mean estimates an arm's profit: by experience, else by what is usual for the
// arm. Of an arm about which nothing is known a sure profit is expected, so that
// it is tried early.
func (b *bandit) mean(a arm) float64 {
	p, o := b.prior[a], b.own[a]
	n := min(p.Count, priorWeight)
	if usual := arms[a].usual; n == 0 && usual > 0 {
		p.Mean, n = usual, usualWeight
	}
	if n+o.Count == 0 {
		return 1
	}
	return (p.Mean*float64(n) + o.Mean*float64(o.Count)) / float64(n+o.Count)
}

// pick chooses among arms that have candidates left, by expected gain: the mean
// profit times what the arm's next candidate takes away. The mean alone, as
// published, prefers sure small steps; with it, experience costs attempts
// instead of saving them. Among equals the first in the fixed order wins.
func (b *bandit) pick(from []arm, gain func(arm) float64) arm {
	switch b.strategy {
	case Random:
		return from[b.rng.IntN(len(from))]
	case ProbabilityTable:
		return b.draw(from, gain)
	case DeltaDebug:
		return from[0]
	}
	if b.rng.Float64() < b.epsilon() {
		return from[b.rng.IntN(len(from))]
	}
	best := from[0]
	for _, a := range from[1:] {
		if b.mean(a)*gain(a) > b.mean(best)*gain(best) {
			best = a
		}
	}
	return best
}

// leastChance keeps an arm that never paid drawable.
const leastChance = 0.02

func (b *bandit) draw(from []arm, gain func(arm) float64) arm {
	weights := make([]float64, len(from))
	var sum float64
	for i, a := range from {
		weights[i] = max(b.mean(a), leastChance) * gain(a)
		sum += weights[i]
	}
	x := b.rng.Float64() * sum
	for i, w := range weights {
		if x -= w; x < 0 {
			return from[i]
		}
	}
	return from[len(from)-1]
}

func (b *bandit) learn(a arm, kept bool) {
	b.attempts++
	profit := 0.0
	if kept {
		profit = 1
	}
	b.own[a].update(profit)
}
