package invariant

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// Reads says which plain SELECTs of a transaction see one state.
type Reads uint8

// The levels of what is promised.
const (
	Unpromised     Reads = iota // a SELECT may see what is not committed
	PerStatement                // each SELECT by itself
	PerTransaction              // all of them
)

// Host is the run that a Set belongs to. Its methods are safe for several goroutines.
type Host interface {
	// Now is the time of the run in nanoseconds.
	Now() int64
	// Outcome tells how a transaction ended with an error, committing: with one of its COMMIT.
	Outcome(err error, committing bool) Outcome
	// Found keeps a violation and the transactions that touched its rows.
	Found(epoch int, v Violation, touched []Logged) error
}

// Outcome is how a transaction ended that met an error.
type Outcome struct {
	Status kv.Status
	// Code is the server's; empty: the connection was lost.
	Code string
	// Usual: clients that compete, or a server that is going down, give it. Ended: the server has rolled back.
	Usual, Ended bool
}

// Conn is a session of a run. Behind an error without a code it is of no more use.
type Conn interface {
	Change(sql string) (changed int64, err error)
	Query(sql string) ([][]history.Cell, error)
	// Drop closes the connection.
	Drop()
}

// Set is a workload in a run.
type Set struct {
	Workload *Workload
	host     Host
	dialect  *dialect
	reads    Reads
	kills    bool
	name     string

	tokens  atomic.Int64 // one for each transaction
	clients []*Client

	mu sync.Mutex
	// met counts the transactions that could have shown each kind of finding.
	met map[string]int

	given values // of the workload of sequences
}

// Conditions are those that a Set runs under.
type Conditions struct {
	Server history.Server
	Reads  Reads
	// SkipLocked: the server has SKIP LOCKED. Kills: it will be killed.
	SkipLocked, Kills bool
	// Name begins what the Set draws names for.
	Name string
}

// NewSet prepares a workload.
func NewSet(w *Workload, h Host, c Conditions) *Set {
	return &Set{
		Workload: w, host: h, dialect: dialectOf(c.Server, c.SkipLocked), reads: c.Reads, kills: c.Kills, name: c.Name,
		met: map[string]int{},
	}
}

// Define returns the statements that make the tables.
func (s *Set) Define() []string { return s.Workload.define(s.dialect) }

// Settings returns what a client's session begins with.
func (s *Set) Settings() []string {
	if s.Workload.settings == nil {
		return nil
	}
	return s.Workload.settings(s.dialect)
}

// Control returns what the control session begins with.
func (s *Set) Control() []string {
	out := []string{s.dialect.snapshot}
	if s.Workload.claims {
		out = append(out, claim(s.dialect, s.name))
	}
	return out
}

// Met returns the opportunities that committed transactions had, by kind of finding.
func (s *Set) Met() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.met)
}

// Epoch is a stretch of a run with rows of its own.
type Epoch struct {
	Number int
	set    *Set
	state  state
	// first and last bound the keys of rows, which no other epoch has.
	first, last int64
	changes     atomic.Int64 // commits that changed something
}

// keysOf is how many keys an epoch has.
const keysOf = 1 << 24

// Begin makes an epoch. Its number tells it from all others.
func (s *Set) Begin(number int) *Epoch {
	e := &Epoch{Number: number, set: s, first: 1 + int64(number)*keysOf}
	e.last = e.first + keysOf - 1
	e.state = s.Workload.begin(e)
	return e
}

// Fill returns the statements that load the rows of the epoch, and Discard those that delete the rows of earlier ones.
func (e *Epoch) Fill() []string { return e.state.fill() }

// Discard returns the statements that delete the rows of earlier epochs.
func (e *Epoch) Discard() []string {
	out := e.state.discard()
	if !e.set.dialect.postgres {
		return out
	}
	for _, q := range out { // each epoch would step over the rows of all before it
		if f := strings.Fields(q); f[0] == "DELETE" {
			out = append(out, "VACUUM "+f[2])
		}
	}
	return out
}

// Finish reads everything on the control session and reports what is wrong. An error is the connection's.
func (e *Epoch) Finish(c Conn) error {
	found, err := e.Judge(c)
	if err != nil {
		return err
	}
	for _, v := range found {
		if err := e.set.report(e, v); err != nil {
			return err
		}
	}
	return nil
}

// Judge reads everything and returns what is wrong. It may be called on any node, and again.
func (e *Epoch) Judge(c Conn) ([]Violation, error) {
	return e.state.finish(&reader{conn: c, epoch: e})
}

func (s *Set) report(e *Epoch, v Violation) error {
	var touched []Logged
	s.mu.Lock()
	clients := slices.Clone(s.clients)
	s.mu.Unlock()
	for _, c := range clients {
		touched = append(touched, c.trail.of(v.Keys)...)
	}
	return s.host.Found(e.Number, v, telling(touched, v.Keys))
}

// Client makes the transactions of one session. It belongs to one goroutine.
type Client struct {
	set    *Set
	number int
	conn   Conn
	rand   *rand.Rand
	trail  trail
	// looks: it only reads.
	looks bool
}

// OnlyLooks has the client read, and change nothing. Its workload must be one that ReadsAlone.
func (c *Client) OnlyLooks() { c.looks = true }

// NewClient adds a client to a set.
func (s *Set) NewClient(number int, c Conn, r *rand.Rand) *Client {
	n := &Client{set: s, number: number, conn: c, rand: r}
	s.mu.Lock()
	s.clients = append(s.clients, n)
	s.mu.Unlock()
	return n
}
