package harness

import "time"

// gate tells how long to wait for the answer to a statement before asking
// whether it waits: long enough that a statement which needs no lock hardly
// ever costs an ask, short enough that a wait is known soon.
type gate struct {
	typical float64 // service time of a statement that does not wait, ns
}

const (
	gateMin = 80 * time.Microsecond
	gateMax = 3 * time.Millisecond
	// A time below the estimate pulls it down by gateDown of the difference,
	// one above pushes it up by gateUp: the estimate follows a quick server at
	// once, and moments in which something else had the processor hardly count.
	gateDown, gateUp = 1.0 / 8, 1.0 / 32
	// gateFactor times the estimate is late.
	gateFactor = 2.5
	// Where the server's threads can be watched, a look comes before each
	// question. It costs little, so it may come soon and again.
	glanceFactor = 1.25
	glanceMin    = 50 * time.Microsecond
	glancePause  = 50 * time.Microsecond
)

func (g *gate) observe(d time.Duration) {
	diff := float64(d) - g.typical
	switch {
	case g.typical == 0:
		g.typical = float64(d)
	case diff < 0:
		g.typical += diff * gateDown
	default:
		g.typical += min(diff, gateFactor*g.typical) * gateUp
	}
}

// gates holds one gate for each sort of statement: a BEGIN takes a tenth of the
// time of an UPDATE that scans.
type gates [3]gate

func (g *gates) of(t traits) *gate {
	switch {
	case t&plainRead != 0:
		return &g[0]
	case t&locks != 0:
		return &g[1]
	}
	return &g[2]
}

func (g *gate) delay() time.Duration {
	return min(max(time.Duration(gateFactor*g.typical), gateMin), gateMax)
}

// glance is the delay until the first look at a thread.
func (g *gate) glance() time.Duration {
	return min(max(time.Duration(glanceFactor*g.typical), glanceMin), gateMax)
}
