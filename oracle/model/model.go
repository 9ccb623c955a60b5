package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/graph"
)

// Model is a consistency model, by name.
type Model string

const (
	ReadUncommitted                Model = "read-uncommitted"
	ReadCommitted                  Model = "read-committed"
	RepeatableRead                 Model = "repeatable-read"
	SnapshotIsolation              Model = "snapshot-isolation"
	Serializable                   Model = "serializable"
	StrongSessionSnapshotIsolation Model = "strong-session-snapshot-isolation"
	StrongSessionSerializable      Model = "strong-session-serializable"
	StrongSnapshotIsolation        Model = "strong-snapshot-isolation"
	StrictSerializable             Model = "strict-serializable"
)

// Definition is what a model forbids, as a shape of cycles, and what it implies.
type Definition struct {
	Model Model
	// Weaker models, directly implied.
	Implies []Model
	// Kinds are the edges of which no cycle may be made.
	Kinds graph.Kinds
	// Snapshot: only cycles without two neighbouring anti-dependencies count.
	Snapshot bool
	// Forbids are anomalies seen without a cycle, beyond those of weaker models.
	Forbids []Kind
	Cite    string
}

// Models is every model, weaker ones first.
var Models = []Definition{
	{Model: ReadUncommitted, Kinds: graph.WW, Cite: "Adya, PL-1",
		Forbids: []Kind{DuplicateElements, Unwritten, SetLost, SetDuplicate}},
	{Model: ReadCommitted, Implies: []Model{ReadUncommitted}, Kinds: graph.WW | graph.AnyWR, Cite: "Adya, PL-2",
		Forbids: []Kind{G1a, G1b, DirtyUpdate, IncompatibleOrder, FutureRead}},
	{Model: RepeatableRead, Implies: []Model{ReadCommitted}, Kinds: graph.Item | graph.PredicateWR, Cite: "Adya, PL-2.99",
		Forbids: []Kind{Internal, LostUpdate, WrongTotal, NegativeBalance}},
	{Model: SnapshotIsolation, Implies: []Model{ReadCommitted}, Kinds: graph.Data, Snapshot: true, Cite: "Adya, PL-SI; Cerone and Gotsman, theorem 4.1",
		Forbids: []Kind{Internal, LostUpdate, WrongTotal, NegativeBalance, PredicateMiss}},
	{Model: Serializable, Implies: []Model{RepeatableRead, SnapshotIsolation}, Kinds: graph.Data, Cite: "Adya, PL-3"},
	{Model: StrongSessionSnapshotIsolation, Implies: []Model{SnapshotIsolation}, Kinds: graph.Data | graph.Session, Snapshot: true, Cite: "Daudjee and Salem, 2006"},
	{Model: StrongSessionSerializable, Implies: []Model{Serializable, StrongSessionSnapshotIsolation}, Kinds: graph.Data | graph.Session, Cite: "Daudjee and Salem, 2004"},
	{Model: StrongSnapshotIsolation, Implies: []Model{StrongSessionSnapshotIsolation}, Kinds: graph.All, Snapshot: true, Cite: "Daudjee and Salem, 2006"},
	{Model: StrictSerializable, Implies: []Model{StrongSessionSerializable, StrongSnapshotIsolation}, Kinds: graph.All, Cite: "Adya, PL-SS"},
}

// Find returns a model's definition.
func Find(m Model) (Definition, bool) {
	for _, d := range Models {
		if d.Model == m {
			return d, true
		}
	}
	return Definition{}, false
}

// Parse reads a model's name.
func Parse(s string) (Model, error) {
	if _, ok := Find(Model(s)); ok {
		return Model(s), nil
	}
	return "", fmt.Errorf("unknown model %q: one of %s", s, strings.Join(Names(), ", "))
}

// Names lists all models.
func Names() []string {
	var out []string
	for _, d := range Models {
		out = append(out, string(d.Model))
	}
	return out
}

// Implied returns a model and all weaker ones, weakest first.
func Implied(m Model) []Model {
	var out []Model
	for _, d := range Models {
		if Implies(m, d.Model) {
			out = append(out, d.Model)
		}
	}
	return out
}

// Implies tells whether every history that satisfies a satisfies b.
func Implies(a, b Model) bool {
	if a == b {
		return true
	}
	d, _ := Find(a)
	for _, w := range d.Implies {
		if Implies(w, b) {
			return true
		}
	}
	return false
}

// ForbiddenBy returns the weakest models that forbid an anomaly.
func ForbiddenBy(k Kind) []Model {
	var out []Model
	for _, d := range Models {
		if d.forbids(k) && !slices.ContainsFunc(d.Implies, func(w Model) bool { return Forbids(w, k) }) {
			out = append(out, d.Model)
		}
	}
	return out
}

// Forbids tells whether a model, or one that it implies, forbids an anomaly.
func Forbids(m Model, k Kind) bool {
	for _, w := range Implied(m) {
		if d, _ := Find(w); d.forbids(k) {
			return true
		}
	}
	return false
}

func (d Definition) forbids(k Kind) bool {
	if slices.Contains(d.Forbids, k) {
		return true
	}
	c, ok := cycleKinds[k]
	return ok && c.kinds&^d.Kinds == 0 && (!d.Snapshot || !c.adjacent)
}

// Strongest leaves out models that another one of the list implies; Weakest
// those that imply another one.
func Strongest(ms []Model) []Model {
	return filter(ms, func(m, other Model) bool { return Implies(other, m) })
}

// Weakest is told at Strongest.
func Weakest(ms []Model) []Model {
	return filter(ms, func(m, other Model) bool { return Implies(m, other) })
}

func filter(ms []Model, covered func(m, other Model) bool) []Model {
	var out []Model
	for _, m := range ms {
		if !slices.ContainsFunc(ms, func(o Model) bool { return o != m && covered(m, o) }) {
			out = append(out, m)
		}
	}
	return out
}
