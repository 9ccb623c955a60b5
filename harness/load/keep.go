package load

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus/wholefile"
	"github.com/txnfuzz/txnfuzz/harness/load/invariant"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// kept is a workload of package invariant in a run, which makes its transactions itself: no steps are planned.
type kept struct{ set *invariant.Set }

// keptTransactions is how long an epoch is: most of it is in the memory of the clients when something is found.
const keptTransactions = 4000

func (kept) kind() kv.Workload                       { return "" }
func (kept) size() size                              { return size{transactions: keptTransactions} }
func (kept) table() string                           { return "" }
func (k kept) define(*dialect) []string              { return k.set.Define() }
func (k kept) settings(*dialect) []string            { return k.set.Settings() }
func (kept) fill(*epoch) []string                    { return nil }
func (kept) plan(steps []step, _ *chooser) []step    { return steps }
func (kept) sql(_ *dialect, b []byte, _ step) []byte { return b }
func (kept) record(*tape, step, *answer) error       { return nil }
func (kept) readAll(*epoch) step                     { return step{} }
func (kept) discard(*epoch) string                   { return "" }

// AllWorkloads returns the names of all workloads, sorted.
func AllWorkloads() []string {
	names := append(Workloads(), invariant.Names()...)
	slices.Sort(names)
	return names
}

// checkInvariant reports settings that a workload without a history does not take.
func (s *Settings) checkInvariant(server history.Server) error {
	w := invariant.Find(s.Workload)
	switch {
	case w == nil:
		return nil
	case len(s.Models) > 0:
		return fmt.Errorf("--model: workload %s gives no history that a model could be checked against", w.Name)
	case s.Openings != nil:
		return fmt.Errorf("--openings: workload %s opens transactions in its own ways", w.Name)
	case s.Reads != AutoReads:
		return fmt.Errorf("--reads: workload %s reads in its own ways", w.Name)
	case s.History != nil:
		return fmt.Errorf("--out: workload %s gives no history; what touched the rows of a finding is saved with it", w.Name)
	}
	return w.Refuses(server)
}

// snapshotsOf tells which SELECTs share a snapshot by a promise.
func snapshotsOf(p promise) invariant.Reads {
	switch {
	case len(p.models) == 0 || slices.Contains(p.models, model.ReadUncommitted):
		return invariant.Unpromised
	case p.views == perStatement:
		return invariant.PerStatement
	}
	return invariant.PerTransaction
}

// keepInvariant prepares a workload of package invariant, if it is one.
func (r *run) keepInvariant() {
	w := invariant.Find(r.settings.Workload)
	if w == nil {
		return
	}
	server := r.backend.Server()
	p, told := declared[r.settings.Declared]
	if !told {
		p = promised(server, r.settings.Level)
	}
	r.invariant = invariant.NewSet(w, host{r}, invariant.Conditions{
		Server: server, Reads: snapshotsOf(p), SkipLocked: lacking(skipLocked, server) == "",
		Kills: len(r.settings.Faults) > 0, Name: r.database,
	})
	r.workload = kept{r.invariant}
}

func (r *run) controlSettings() []string {
	if r.invariant == nil {
		return nil
	}
	return r.invariant.Control()
}

// sweep rolls back what is prepared: what dead runs have left and, with all, what this one has.
func (r *run) sweep(all bool) error {
	if r.invariant == nil {
		return nil
	}
	return r.persist(func(s *session) error { return r.invariant.Sweep(keptConn{s}, all) })
}

func (r *run) beginInvariant(e *epoch) error {
	if err := r.sweep(true); err != nil {
		return err
	}
	e.invariant = r.invariant.Begin(e.number)
	for _, q := range e.invariant.Fill() {
		err := r.persist(func(s *session) error { return s.exec(q) })
		if err != nil && !duplicateKey[errorCode(err)] { // the connection may have broken when it was through
			return fmt.Errorf("load the rows of an epoch: %w", err)
		}
	}
	if e.number == 0 {
		return nil
	}
	for _, q := range e.invariant.Discard() {
		if err := r.persist(func(s *session) error { return s.exec(q) }); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

func (r *run) finishInvariant(e *epoch) error {
	err := r.persist(func(s *session) error { return e.invariant.Finish(keptConn{s}) })
	if err != nil {
		return fmt.Errorf("read the rows of an epoch: %w", err)
	}
	return nil
}

// keepInvariant makes the client one of a workload of package invariant, if the run's is one.
func (c *client) keepInvariant() {
	x := c.run.invariant
	if x == nil {
		return
	}
	c.keeper = x.NewClient(c.number, keptConn{c.session}, rand.New(rand.NewPCG(c.run.settings.Seed, uint64(c.number))))
	if c.chooser.readsOnly {
		c.keeper.OnlyLooks()
	}
}

// keep runs one transaction and counts how it ended.
func (c *client) keep(t *tape) error {
	r := c.keeper.Transact(c.chooser.epoch.invariant)
	t.end(c.process, r.Invoke, r.Back, r.Status)
	switch {
	case r.Planned:
		c.run.count.rolledBack()
	case r.Status == kv.OK:
		c.run.count.ok.Add(1)
	default:
		c.run.count.aborted(r.Status, code(r.Code))
		c.standBack(code(r.Code))
	}
	return r.Err
}

// keptConn is a session as package invariant uses it.
type keptConn struct{ *session }

// Change implements invariant.Conn.
func (c keptConn) Change(sql string) (int64, error) {
	a, err := c.change(sql)
	if err != nil {
		return 0, err
	}
	return a.changed, nil
}

// Query implements invariant.Conn.
func (c keptConn) Query(sql string) ([][]history.Cell, error) {
	a, err := c.query(sql)
	if err != nil {
		return nil, err
	}
	out := make([][]history.Cell, len(a.rows))
	for i, row := range a.rows {
		out[i] = make([]history.Cell, len(row))
		for j, v := range row {
			out[i][j] = keptCell(v)
		}
	}
	return out, nil
}

// Drop implements invariant.Conn.
func (c keptConn) Drop() { c.close() }

func keptCell(v driver.Value) history.Cell {
	switch v := v.(type) {
	case nil:
		return history.Cell{Null: true}
	case int64:
		return history.Cell{Text: strconv.FormatInt(v, 10)}
	case []byte:
		return history.Cell{Text: string(v)}
	}
	return history.Cell{Text: fmt.Sprint(v)}
}

// host is a run as package invariant knows it.
type host struct{ *run }

// Now implements invariant.Host.
func (h host) Now() int64 { return h.now() }

// goingDown are the answers of a server that is being stopped.
var goingDown = map[code]bool{"1053": true, "57P01": true, "57P02": true, "57P03": true}

// unnamed is the code of TiDB's errors that have none of their own. One of them is a lock wait that took too long.
const unnamed code = "1105"

// Outcome implements invariant.Host.
func (h host) Outcome(err error, committing bool) invariant.Outcome {
	status, by := h.outcome(err, committing)
	a, known := aborts[by]
	usual := known || h.breakable() != nil && outside(by) || by == noCode || goingDown[by] ||
		by == unnamed && strings.Contains(err.Error(), "lock wait timeout")
	return invariant.Outcome{Status: status, Code: string(by), Usual: usual, Ended: a.ended}
}

// Found implements invariant.Host.
func (h host) Found(epoch int, v invariant.Violation, touched []invariant.Logged) error {
	return h.judge.violated(epoch, v, touched)
}

// violated keeps a violation; of each kind the first is saved, at once.
func (j *judge) violated(number int, v invariant.Violation, touched []invariant.Logged) error {
	j.run.mu.Lock()
	faults := slices.Clone(j.run.pending)
	j.run.mu.Unlock()
	f := Finding{
		Kind: v.Kind, Epoch: number, Count: 1, Transactions: len(touched),
		Says: append(slices.Clone(v.Says), j.faultsSaid(&epoch{faults: faults})),
	}
	if v.Lost > 0 {
		f.Note = j.run.excuse()
	}
	j.mu.Lock()
	j.lost += v.Lost
	j.mu.Unlock()
	if _, first := j.note(&f); !first {
		return nil
	}
	return j.saveViolation(f, touched)
}

// savedViolation is the file of a finding.
type savedViolation struct {
	Finding
	Target   string            `json:"target"`
	Server   string            `json:"server_version"`
	Settings map[string]string `json:"settings"`
	Level    string            `json:"level"`
	Workload string            `json:"workload"`
	Protocol string            `json:"protocol,omitempty"`
	Topology string            `json:"topology,omitempty"`
	// On names the node of each client, by the client's number; empty: there is one server.
	On    []string `json:"on,omitempty"`
	Again string   `json:"again"`
	// Touched are the transactions that touched the rows, as their clients saw them, by the time they began.
	Touched []invariant.Logged `json:"touched"`
}

// saveViolation writes a finding for programs and, beside it, for people.
func (j *judge) saveViolation(f Finding, touched []invariant.Logged) error {
	saved := savedViolation{
		Finding: f, Target: j.run.settings.Target, Server: j.header.Server, Settings: j.header.Settings,
		Level: j.run.settings.Level.Short(), Workload: j.run.settings.Workload, Protocol: j.header.Protocol,
		Topology: j.header.Topology, On: j.run.cluster.clientsOn(j.run.settings.Clients), Again: j.again(), Touched: touched,
	}
	b, err := json.MarshalIndent(saved, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(f.File), 0o755)
	}
	if err == nil {
		err = wholefile.Write(f.File, append(b, '\n'))
	}
	if err == nil {
		err = wholefile.Write(strings.TrimSuffix(f.File, ".json")+".txt", []byte(j.text(f)+tellTouched(touched, saved.On)+
			"\nTo look for it again (how the transactions interleave differs from run to run):\n  "+saved.Again+"\n"))
	}
	if err != nil {
		return fmt.Errorf("save a finding: %w", err)
	}
	return nil
}

// again is the command that looks for a finding once more.
func (j *judge) again() string {
	s := &j.run.settings
	out := fmt.Sprintf("txnfuzz load --target '%s'", s.Target)
	for _, n := range s.Nodes {
		out += fmt.Sprintf(" --node '%s'", n)
	}
	out += fmt.Sprintf(" --level %s --workload %s --clients %d --seed %d", s.Level.Short(), s.Workload, s.Clients, s.Seed)
	if s.Declared != "" {
		out += fmt.Sprintf(" --promise %s=%s", s.Level.Short(), s.Declared)
	}
	for _, n := range []struct {
		flag string
		is   int
	}{{"bystanders", s.Bystanders}, {"epoch", s.Epoch}, {"keys", s.Keys}} {
		if n.is > 0 {
			out += fmt.Sprintf(" --%s %d", n.flag, n.is)
		}
	}
	if !s.Protocol.IsText() {
		out += " --protocol " + s.Protocol.Name()
	}
	if len(s.Faults) > 0 {
		var kinds []string
		for _, k := range s.Faults {
			kinds = append(kinds, string(k))
		}
		out += fmt.Sprintf(" --fault %s --fault-every %s", strings.Join(kinds, ","), s.FaultEvery)
	}
	return out
}

// tellTouched tells transactions to people.
func tellTouched(touched []invariant.Logged, on []string) string {
	var b strings.Builder
	if len(touched) > 0 {
		b.WriteString("\nThese transactions touched the rows (times in seconds; the last ones, as far as the clients remember):\n")
	}
	for _, t := range touched {
		where := ""
		if t.Client < len(on) {
			where = " on " + on[t.Client]
		}
		fmt.Fprintf(&b, "\nclient %d%s, %.4f to %.4f, %s\n", t.Client, where, float64(t.From)/1e9, float64(t.To)/1e9, t.Outcome)
		for _, s := range t.Statements {
			fmt.Fprintf(&b, "  %.4f to %.4f  %s\n    -> %s\n", float64(s.From)/1e9, float64(s.To)/1e9, s.SQL, s.Answer)
		}
	}
	return b.String()
}

// excludedViolations lists what was looked for, had an opportunity, and was not found. The lock of j is held.
func (j *judge) excludedViolations(found func(string) bool) []Exclusion {
	killed := 0
	for _, f := range j.faults {
		if f.Kind.ends() {
			killed++
		}
	}
	met := j.run.invariant.Met()
	var out []Exclusion
	for _, k := range j.run.invariant.Workload.Kinds {
		switch {
		case found(k.Kind):
		case k.Kind == KindLost && killed > 0:
			out = append(out, exclusion(k.Kind, kills, killed, killed))
		default:
			out = append(out, exclusion(k.Kind, k.Met, j.sent, met[k.Kind]))
		}
	}
	return out
}
