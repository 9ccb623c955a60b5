package load

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load/invariant"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// Kinds of findings of several servers.
const (
	KindDiffer  = "nodes-differ"    // a node has applied all that was committed, and holds other rows
	KindStopped = "replica-stopped" // a replica cannot apply what was committed
)

// difference is what one node holds and the first one does not, or the other way round.
type difference struct {
	node  *node
	first kv.Record
	other kv.Record
	keys  []kv.Value
	says  []string
}

// settle waits until all nodes hold what the first one does; nothing may go on meanwhile. What they show is on their
// tapes. stop is what a replica has stopped with.
func (r *run) settle(e *epoch) (differ []difference, stop *harness.StoppedError, err error) {
	x := r.cluster
	if stop, err := r.followed(); stop != nil || err != nil {
		return nil, stop, err
	}
	s := r.workload.readAll(e)
	for i, n := range x.others() {
		t := e.tapes[r.settings.Clients+i]
		d, err := r.settleOne(e, n, t, s)
		if err != nil {
			return nil, nil, fmt.Errorf("read all keys of an epoch on node %s: %w", n.Name, n.left(err))
		}
		switch {
		case d == nil:
		case !x.tells(n):
			e.late = append(e.late, n.late())
		default:
			differ = append(differ, *d)
		}
	}
	return differ, nil, nil
}

// tells says that it is known of a node when it has applied what was committed elsewhere.
func (x *cluster) tells(n *node) bool { return x.follower != nil || n.waits }

func (n *node) late() string {
	return fmt.Sprintf("%s had not come to hold the same in %s; nobody here can ask how far it is", n.Name, lagTime)
}

// outside says that a node which answers so takes part in its cluster no more, or not yet.
func outside(c code) bool {
	n, err := strconv.ParseUint(string(c), 10, 16)
	return c == blocked || err == nil && harness.OutsideCluster(uint16(n))
}

// left adds to an error of a node that it has left its cluster, and what its log says.
func (n *node) left(err error) error {
	if !outside(errorCode(err)) {
		return err
	}
	return fmt.Errorf("%w\n%s takes part in its cluster no more. The end of its log:\n%s", err, n.Name, n.Backend.Log())
}

// settleOne reads a node until it holds what the first one does or has had the time for it. A node that was waited for
// is read twice: the second answer counts. Where nothing differs but what transactions wrote whose end is not known,
// these may be under way still, and have come to one node only: a COMMIT that waits for a standby is shown there first.
func (r *run) settleOne(e *epoch, n *node, t *tape, s step) (*difference, error) {
	begun := time.Now()
	end := begun
	if !r.cluster.tells(n) {
		end = end.Add(lagTime)
	}
	anew := false // the first node is read, too, since what is open may have come there
	for again := false; ; again = true {
		read, values := len(t.txns), len(t.ops)
		if err := r.readNode(n, t, s); gone[errorCode(err)] && time.Now().Before(end) {
			lookAgain(r.life) // the table is yet to come
			continue
		} else if err != nil {
			return nil, err
		}
		own := event{t, &t.txns[read]}.record()
		first, err := r.readFirst(e, s, anew)
		if err != nil {
			return nil, err
		}
		keys := differing(first.Ops, own.Ops)
		if len(keys) == 0 {
			return nil, nil
		}
		if !anew && e.onlyOpen(keys) {
			anew, end = true, begun.Add(lagTime)
		}
		if again && !time.Now().Before(end) {
			return &difference{node: n, first: first, other: own, keys: keys, says: tellDifference(r, n, first, own, keys)}, nil
		}
		t.txns, t.ops, t.how = t.txns[:read], t.ops[:values], t.how[:values]
		t.begin = values
		lookAgain(r.life)
	}
}

// readNode reads all keys on a node.
func (r *run) readNode(n *node, t *tape, s step) error {
	var invoke int64
	var a *answer
	q := string(r.workload.sql(r.dialect, nil, s))
	err := r.persistOn(n.control, func() (err error) {
		invoke = r.now()
		a, err = n.control.query(q)
		return err
	})
	if err != nil {
		return err
	}
	t.from, t.to = invoke, r.now()
	if err := r.workload.record(t, s, a); err != nil {
		return &WrongAnswer{SQL: "on node " + n.Name + ": " + q, Err: err}
	}
	t.end(readerSession, invoke, t.to, kv.OK)
	return nil
}

// onlyOpen says that transactions whose end is not known wrote each of some keys.
func (e *epoch) onlyOpen(keys []kv.Value) bool {
	written := map[kv.Value]bool{}
	for _, t := range e.tapes {
		for i := range t.txns {
			if t.txns[i].status != kv.Info {
				continue
			}
			for _, o := range (event{t, &t.txns[i]}).record().Ops {
				if !o.Kind.IsRead() {
					written[o.Key] = true
				}
			}
		}
	}
	return !slices.ContainsFunc(keys, func(k kv.Value) bool { return !written[k] })
}

// readFirst is what the first node holds: what was read when the epoch ended or, before that or if it is to be read
// anew, what is read now.
func (r *run) readFirst(e *epoch, s step, anew bool) (kv.Record, error) {
	if t := e.reader(); !anew && e.over.Load() && len(t.txns) > 0 {
		return event{t, &t.txns[len(t.txns)-1]}.record(), nil
	}
	t := &tape{node: r.cluster.first()}
	if err := r.readNode(r.cluster.nodes[0], t, s); err != nil {
		return kv.Record{}, err
	}
	return event{t, &t.txns[0]}.record(), nil
}

// heldOf is what a read of everything says of each key.
func heldOf(ops []kv.RecordOp) map[kv.Value][]kv.Value {
	out := map[kv.Value][]kv.Value{}
	for _, o := range ops {
		switch {
		case o.Kind == kv.ReadPredicate:
			for i := 0; i+1 < len(o.List); i += 2 {
				out[o.List[i]] = append(out[o.List[i]], o.List[i+1])
			}
		case o.Kind == kv.Read:
			if o.Val != kv.Nil { // a key without a row is none at all
				out[o.Key] = append(out[o.Key], o.Val)
			}
		case len(o.List) > 0:
			out[o.Key] = append(append(out[o.Key], kv.Nil), o.List...)
		}
	}
	return out
}

// differing are the keys of which two reads of everything say something else, in order.
func differing(a, b []kv.RecordOp) []kv.Value {
	x, y := heldOf(a), heldOf(b)
	var out []kv.Value
	for k, list := range x {
		if !slices.Equal(list, y[k]) {
			out = append(out, k)
		}
	}
	for k := range y {
		if _, ok := x[k]; !ok {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// nothingLeft is said of a node.
const nothingLeft = "Nothing went on, and %s had had the time to apply all that was committed"

// toldKeys is of how many keys a finding says what the nodes hold.
const toldKeys = 8

func tellDifference(r *run, n *node, first, other kv.Record, keys []kv.Value) []string {
	x, y := heldOf(first.Ops), heldOf(other.Ops)
	says := []string{fmt.Sprintf(nothingLeft+": %d keys differ.", n.Name, len(keys))}
	for _, k := range keys[:min(len(keys), toldKeys)] {
		says = append(says, fmt.Sprintf("key %d: %s holds %s, %s holds %s",
			k, r.cluster.first(), spellHeld(x[k]), n.Name, spellHeld(y[k])))
	}
	return says
}

// spellHeld tells what a node holds of a key; kv.Nil stands before a list.
func spellHeld(list []kv.Value) string {
	if len(list) == 0 {
		return "nothing"
	}
	if list[0] == kv.Nil {
		list = list[1:]
	}
	return fmt.Sprint(list)
}

// compare looks, when an epoch has ended, whether all nodes hold the same. It returns true if the run is to end.
func (r *run) compare(e *epoch) (end bool, err error) {
	if r.cluster == nil {
		return false, nil
	}
	err = r.hold(e)
	return e.stop != nil, err
}

// hold waits until all nodes hold the same, and notes in the epoch what is wrong with them.
func (r *run) hold(e *epoch) (err error) {
	if r.invariant != nil {
		e.stop, err = r.settleInvariant(e)
		return err
	}
	e.differ, e.stop, err = r.settle(e)
	return err
}

// settleInvariant looks at each node but the first until nothing is wrong with what it holds or it has had the time for
// that. It may be called when an epoch begins, too.
func (r *run) settleInvariant(e *epoch) (stop *harness.StoppedError, err error) {
	x := r.cluster
	if stop, err := r.followed(); stop != nil || err != nil {
		return stop, err
	}
	for _, n := range x.others() {
		end := time.Now()
		if !x.tells(n) {
			end = end.Add(lagTime)
		}
		for {
			var found []invariant.Violation
			err := r.persistOn(n.control, func() (err error) {
				found, err = e.invariant.Judge(keptConn{n.control})
				return err
			})
			if gone[errorCode(err)] && time.Now().Before(end) {
				lookAgain(r.life)
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read the rows of an epoch on node %s: %w", n.Name, n.left(err))
			}
			if len(found) == 0 {
				break
			}
			if !time.Now().Before(end) {
				if !x.tells(n) {
					e.late = append(e.late, n.late())
					break
				}
				for _, v := range found {
					e.wrong = append(e.wrong, append([]string{fmt.Sprintf(nothingLeft+": %s", n.Name, v.Kind)}, v.Says...))
				}
				break
			}
			lookAgain(r.life)
		}
	}
	return nil, nil
}

// apart makes findings of nodes that do not hold the same.
func (j *judge) apart(e *epoch) error {
	if e.stop != nil {
		if err := j.replicaStopped(e.number, e.stop); err != nil {
			return err
		}
	}
	for _, says := range e.late {
		j.doubt(says)
	}
	for _, says := range e.wrong {
		f := Finding{Kind: KindDiffer, Epoch: e.number, Count: 1, Says: says, Promised: j.run.cluster.equal}
		if err := j.found(f, nil); err != nil {
			return err
		}
	}
	for _, d := range e.differ {
		f := Finding{Kind: KindDiffer, Epoch: e.number, Count: len(d.keys), Says: d.says, Promised: j.run.cluster.equal}
		if err := j.found(f, project([]kv.Record{d.first, d.other}, d.keys)); err != nil {
			return err
		}
	}
	return nil
}

func (j *judge) replicaStopped(number int, s *harness.StoppedError) error {
	return j.found(Finding{
		Kind: KindStopped, Epoch: number, Count: 1, Says: []string{s.Error()}, Promised: j.run.cluster.equal,
	}, nil)
}
