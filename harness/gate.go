package harness

import "time"

// gate tells how long to wait for the answer to a statement before asking
// whether it waits: long enough that a statement which needs no lock hardly
// ever costs an ask, short enough that a wait is known soon.
type gate struct {
	mean float64 // of the service times of statements that did not wait, ns
}

const (
	gateMin = 100 * time.Microsecond
	gateMax = 3 * time.Millisecond
	// gateWeight is the share of a new observation in the running mean.
	gateWeight = 1.0 / 16
	// gateFactor times the mean is late.
	gateFactor = 3
)

func (g *gate) observe(d time.Duration) {
	if g.mean == 0 {
		g.mean = float64(d)
		return
	}
	g.mean += (float64(d) - g.mean) * gateWeight
}

func (g *gate) delay() time.Duration {
	return min(max(time.Duration(gateFactor*g.mean), gateMin), gateMax)
}
