package load

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// together is what a topology promises of what its nodes show, beside what each of them promises alone.
type together struct {
	order order
	says  string
	cite  string
	// equal is what is promised of nodes behind which nothing is left to apply.
	equal string
}

// String says what is promised and where that stands.
func (p together) String() string { return p.says + " (" + p.cite + ")" }

// order says how the states that nodes go through stand to each other.
type order uint8

const (
	// apart: a transaction is there as a whole or not at all, in no order that is promised.
	apart order = iota
	// ownOrder: a replica goes through states of one order of the commits, in which who read or overwrote what another
	// one wrote comes behind it. The primary may have shown the same commits in another order.
	ownOrder
	// sameOrder: all nodes go through the same states.
	sameOrder
)

// documentedTogether says what a topology promises if a setting of the node has a value.
type documentedTogether struct {
	dbms           history.DBMS
	setting, value string // empty: whatever is set
	together
}

const (
	mysqlGaps    = "https://dev.mysql.com/doc/refman/en/replication-features-transaction-inconsistencies.html"
	mysqlInOrder = "https://dev.mysql.com/doc/refman/en/replication-options-binary-log.html#sysvar_binlog_order_commits"
	mysqlEqual   = "https://dev.mysql.com/doc/refman/en/replication-sbr-rbr.html"
	mariaInOrder = "https://mariadb.com/docs/server/ha-and-performance/standard-replication/parallel-replication"
	mariaEqual   = "https://mariadb.com/docs/server/server-management/server-monitoring-logs/binary-log/binary-log-formats"
	hotStandby   = "https://www.postgresql.org/docs/current/hot-standby.html"
	mvccCaveats  = "https://www.postgresql.org/docs/current/mvcc-caveats.html"
	longFork     = "https://aws.amazon.com/blogs/database/" +
		"understanding-transaction-visibility-in-postgresql-clusters-with-read-replicas/"
)

// promisesTogether is what vendors document of replicas; the first line that fits counts. None promises that a replica
// shows what was acknowledged before, so real time counts nowhere between nodes.
//
// MySQL: with binlog_order_commits "transactions are externalized in the same order as they are written to the binary
// log"; a gap, where a later transaction "is applied before some other transaction that is prior in the sequence", "can
// only appear when using a multithreaded replica", and replica_preserve_commit_order=ON is "to avoid gaps".
//
// MariaDB: a replica in the modes optimistic and conservative, the defaults, "ensures that transactions commit in the
// same order as on the primary" whatever runs in parallel.
//
// PostgreSQL: on a standby "a Repeatable Read transaction … can sometimes see a transient state that is inconsistent
// with any serial execution of the transactions on the primary" (13.7). The standby shows commits in the order of the
// log, the primary in that in which sessions leave a list in memory: a long fork between the two is known.
var promisesTogether = []documentedTogether{
	{history.MySQL, "replica_preserve_commit_order", "OFF", together{
		order: apart,
		says:  "a transaction is visible on the replica as a whole; later ones may be visible before earlier ones",
		cite:  mysqlGaps,
		equal: "the replica holds what the primary has committed (" + mysqlEqual + ")",
	}},
	{history.MySQL, "", "", together{
		order: sameOrder,
		says: "the replica goes through the states of the primary, in the same order, behind it; what a session reads on " +
			"it never goes back",
		cite:  mysqlInOrder + " " + mysqlGaps,
		equal: "the replica holds what the primary has committed (" + mysqlEqual + ")",
	}},
	{history.MariaDB, "", "", together{
		order: sameOrder,
		says: "the replica goes through the states of the primary, in the same order, behind it; what a session reads on " +
			"it never goes back",
		cite:  mariaInOrder,
		equal: "the replica holds what the primary has committed (" + mariaEqual + ")",
	}},
	{history.PostgreSQL, "", "", together{
		order: ownOrder,
		says: "the standby goes through states of the order of the log; what a session reads on it never goes back. The " +
			"primary may show commits in another order",
		cite:  hotStandby + " " + mvccCaveats + " " + longFork,
		equal: "the standby is a copy of the primary (" + hotStandby + ")",
	}},
}

var errUnknownTogether = errors.New("nothing is recorded of what several servers of this family promise together")

// promisedTogether is what the topology of a run promises. The node that is asked how it is set is the last one, which
// is a replica wherever there is one.
func (r *run) promisedTogether() (together, error) {
	last := r.cluster.nodes[len(r.cluster.nodes)-1]
	dbms := last.Backend.Server().DBMS
	for _, p := range promisesTogether {
		if p.dbms != dbms {
			continue
		}
		if p.setting == "" {
			return p.together, nil
		}
		if value, ok := last.variable(r, p.setting); ok && strings.EqualFold(value, p.value) {
			return p.together, nil
		}
	}
	return together{}, &SettingError{errUnknownTogether}
}

// variable asks a node how it is set; ok is false where it does not know the name.
func (n *node) variable(r *run, name string) (value string, ok bool) {
	if n.control.untilConnected(r.life, r.patience()) != nil {
		return "", false
	}
	a, err := n.control.query("SHOW GLOBAL VARIABLES LIKE '" + name + "'")
	if err != nil || len(a.rows) != 1 || len(a.rows[0]) != 2 {
		return "", false
	}
	text, ok := a.rows[0][1].([]byte)
	return string(text), ok
}

// models are those that a promise of a level comes to where the nodes go through states as o says.
func (o order) models(level promise) []model.Model {
	switch {
	case len(level.models) == 0 || slices.Contains(level.models, model.ReadUncommitted):
		return level.models
	case o == apart:
		return []model.Model{model.ReadCommitted}
	case o == ownOrder, slices.Contains(level.models, model.Serializable):
		return []model.Model{model.Serializable, model.StrongSessionSerializable}
	}
	return []model.Model{model.SnapshotIsolation, model.StrongSessionSnapshotIsolation}
}

// across makes the pieces of an epoch that are promised to be atomic on all nodes together. Only sessions on other
// nodes than the first keep their order: of the first one the level says all that is promised.
func (j *judge) across(events []event) []kv.Record {
	x := j.run.cluster
	f := fragments{promise: j.promise, dying: j.header.Workload == kv.Mixed}
	for _, e := range events {
		f.session = max(f.session, e.session)
	}
	out := make([]kv.Record, 0, len(events))
	for _, e := range events {
		switch {
		case !e.t.replica:
			f.split(e, func(r kv.Record) {
				if x.promise.order == ownOrder {
					r.Ops = changing(r)
				}
				f.session++
				r.Session = f.session
				if len(r.Ops) > 0 {
					out = append(out, r)
				}
			})
		case e.status == kv.OK:
			out = append(out, f.shown(e)...)
		}
	}
	return out
}

// shown are the snapshots that a transaction of a replica read, in order, as those of its session.
func (f *fragments) shown(e event) []kv.Record {
	rec := e.record()
	if f.promise.views != perStatement {
		return []kv.Record{rec}
	}
	var out []kv.Record
	last := -1
	for i, o := range rec.Ops {
		how := e.how()[i]
		if int(how.statement) != last {
			last = int(how.statement)
			one := rec
			one.Ops, one.Invoke, one.Return = nil, how.from, how.to
			out = append(out, one)
		}
		out[len(out)-1].Ops = append(out[len(out)-1].Ops, o)
	}
	return out
}

// changing leaves of a transaction its writes and the reads of what it wrote, if it wrote anything: these depend on what
// was committed before it wherever commits are ordered. What else it read says what its node showed.
func changing(r kv.Record) []kv.RecordOp {
	var wrote []kv.Value
	for _, o := range r.Ops {
		if !o.Kind.IsRead() {
			wrote = append(wrote, o.Key)
		}
	}
	var out []kv.RecordOp
	for _, o := range r.Ops {
		if !o.Kind.IsRead() || o.Kind != kv.ReadPredicate && slices.Contains(wrote, o.Key) {
			out = append(out, o)
		}
	}
	return out
}

// promisedWhole names what is promised of transactions on all nodes as they were sent, where that is less than what the
// level promises on one server; nil: it is not.
func (x *cluster) promisedWhole(level promise) []string {
	if x == nil || x.promise.order == sameOrder || len(level.models) == 0 {
		return nil
	}
	weakest := level.models[0]
	if model.Implies(weakest, model.ReadCommitted) {
		weakest = model.ReadCommitted
	}
	return []string{string(weakest)}
}

// between checks what the nodes showed together against what the topology promises of that.
func (j *judge) between(e *epoch, events []event) error {
	x := j.run.cluster
	if x == nil {
		return nil
	}
	records, models := j.across(events), x.promise.order.models(j.promise)
	result, err := j.bounded(records, models)
	if err != nil {
		return err
	}
	for _, m := range models {
		if result.Verdicts[m] == infer.Undecided {
			j.doubt(fmt.Sprintf("between nodes, %s: %s", m, result.Reasons[m]))
		}
	}
	_, err = j.tell(e, result, records, models, x.promise.String())
	return err
}

// onPrimary are the events of all nodes but replicas.
func (j *judge) onPrimary(events []event) []event {
	x := j.run.cluster
	if x == nil {
		return events
	}
	return slices.DeleteFunc(slices.Clone(events), func(e event) bool { return e.t.replica })
}

// hasPrimary says that the first node is the only one that takes writes.
func (x *cluster) hasPrimary() bool { return x.nodes[0].Role == harness.Primary }
