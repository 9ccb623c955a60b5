package target

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// Replicas counts what was seen of a target's replica.
type Replicas struct {
	// Compared counts the cases behind which the tables were compared.
	Compared int64 `json:"compared"`
	// Watched counts the cases that were read on the replica while they ran, Reads those reads, Refused the ones among them
	// that the replica answered with an error.
	Watched int64 `json:"watched"`
	Reads   int64 `json:"reads"`
	Refused int64 `json:"reads_refused"`
	// Judged counts the reads that were judged: of those that follow each other in a session and give the same the first
	// and the last. Undecided are those of them that can be states in which nobody saw the primary.
	Judged    int64 `json:"reads_judged"`
	Undecided int64 `json:"reads_undecided"`
	// Unsafe counts the statements of which the server told that the binary log cannot repeat them surely by their text
	// (warning 1592), Documented the cases that such statements made differ.
	Unsafe     int64 `json:"unsafe_statements"`
	Documented int64 `json:"documented"`
	// Others counts the cases in which a replica stopped, but not when they ran again alone behind a new replica: another
	// case had stopped it, or chance.
	Others int64 `json:"not_again"`
	// Stopped are what replicas said in those, each once.
	Stopped []string `json:"not_again_texts,omitempty"`
	// Rebuilt is how often a replica was made anew.
	Rebuilt int `json:"rebuilt"`
}

// Plus adds what was seen by two parts of a run; either may be nil.
func (r *Replicas) Plus(other *Replicas) *Replicas {
	if r == nil || other == nil {
		return cmp.Or(r, other)
	}
	out := *r
	out.Compared += other.Compared
	out.Watched += other.Watched
	out.Reads += other.Reads
	out.Refused += other.Refused
	out.Judged += other.Judged
	out.Undecided += other.Undecided
	out.Unsafe += other.Unsafe
	out.Documented += other.Documented
	out.Others += other.Others
	out.Rebuilt += other.Rebuilt
	out.Stopped = slices.Clone(r.Stopped)
	for _, text := range other.Stopped {
		same := func(have string) bool { return volatile(have) == volatile(text) }
		if len(out.Stopped) < mostTexts && !slices.ContainsFunc(out.Stopped, same) {
			out.Stopped = append(out.Stopped, text)
		}
	}
	return &out
}

// Replicas tells what was seen of the replica; nil: there is none.
func (t *Target) Replicas() *Replicas {
	if _, ok := t.backend.(harness.Replicated); !ok {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	s, r := t.pool.Stats(), t.replicas
	r.Compared, r.Unsafe = t.before.Replicated+s.Replicated, t.before.Unsafe+s.Unsafe
	r.Watched, r.Reads = t.before.Watched+s.Watched, t.before.Reads+s.Reads
	r.Refused = t.before.Refused + s.Refused
	r.Judged, r.Undecided = t.judgedReads.Load(), t.undecidedReads.Load()
	r.Stopped = slices.Clone(r.Stopped)
	return &r
}

// replicaTrouble makes a finding of what is wrong with the replica behind a run, which outranks what the oracle has to
// say, unless the manual says so of statements as those of the case. The replica begins anew. If it has stopped
// for another case's sake, the case runs once more. built is how often the replica had begun anew when the case began:
// all who saw it stop need only one new one.
func (t *Target) replicaTrouble(ctx context.Context, r *Trial, built int, run func() (*history.History, error)) {
	if r.History != nil && r.History.Replica != nil && r.History.Replica.Node != "" {
		r.Verdict = nodesVerdict(r.History.Replica, divides(r.Case, r.History))
		return
	}
	b, ok := t.backend.(harness.Replicated)
	if !ok || r.History == nil {
		return
	}
	read := t.judgeReads(r.History)
	if r.History.Replica == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.replicas.Rebuilt == built {
		r.Dead = t.rebuild(ctx, b)
	}
	if r.Dead != nil || ctx.Err() != nil {
		return
	}
	if first := r.History.Replica; first.Stopped && !first.Own {
		h, err := run()
		if err != nil {
			r.History, r.Err = h, err
			return
		}
		if h.Replica != nil {
			if r.Dead = t.rebuild(ctx, b); r.Dead != nil {
				return
			}
		} else {
			t.replicas.Others++
			same := func(text string) bool { return volatile(text) == volatile(first.Actual()) }
			if len(t.replicas.Stopped) < mostTexts && !slices.ContainsFunc(t.replicas.Stopped, same) {
				t.replicas.Stopped = append(t.replicas.Stopped, first.Actual())
			}
		}
		r.History = h
	}
	switch trouble := r.History.Replica; {
	case trouble == nil:
	case len(trouble.Unsafe) > 0:
		t.replicas.Documented++
	case read != nil:
		r.Verdict = *read
	default:
		r.Verdict = replicaVerdict(trouble)
	}
}

// judgeReads judges what was read on the replica while a case ran, unless that is in trouble for what it holds behind it.
func (t *Target) judgeReads(h *history.History) *oracle.Verdict {
	if h.Replica != nil {
		return nil
	}
	ruling, v := judging.ReplicaReads(h)
	t.judgedReads.Add(int64(ruling.Reads))
	t.undecidedReads.Add(int64(ruling.Undecided))
	return v
}

// volatile is a text without what differs from run to run, or from case to case: databases of ours, numbers, the names and
// values of keys.
func volatile(text string) string {
	return Volatile.ReplaceAllString(ofCase.ReplaceAllString(text, "#"), "#")
}

var ofCase = regexp.MustCompile(`\btxnfuzz_\w+|'[^']*'`)

// mostTexts bounds what is kept of stops that nobody saw again.
const mostTexts = 20

// rebuildFor is more than a new pair needs to start.
const rebuildFor = 4 * time.Minute

// rebuild makes the replica anew, and the pool, whose databases go with the old one. t.mu is held. It goes on behind the
// end of the context, which may be that of one run: others are to use the target.
func (t *Target) rebuild(ctx context.Context, b harness.Replicated) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rebuildFor)
	defer cancel()
	if t.user != nil {
		defer context.AfterFunc(t.user, cancel)()
	}
	left := t.pool.Leave()
	t.remember(t.pool.Stats())
	if err := b.Rebuild(ctx); err != nil {
		return errors.Join(fmt.Errorf("begin anew with a replica: %w", err), left)
	}
	pool, err := harness.NewPool(ctx, t.backend, t.options)
	if err != nil {
		return fmt.Errorf("prepare the server with a new replica: %w", err)
	}
	t.pool = pool
	t.replicas.Rebuilt++
	return nil
}

func replicaVerdict(r *history.ReplicaTrouble) oracle.Verdict {
	if r.Stopped {
		return judging.OfServer(oracle.ReplicaStopped, r.Expected(), OneLine(r.Actual()),
			"a transaction that the primary has committed cannot be applied by its replica ("+r.Form+"), which stops; "+
				"the server told of no statement that it is unsafe in the binary log", stoppedFingerprint(r))
	}
	return judging.OfServer(oracle.ReplicaDiffers, r.Expected(), OneLine(r.Actual()),
		"the replica ("+r.Form+") has applied all that the primary has committed, and its rows are other ones; "+
			"the server told of no statement that it is unsafe in the binary log",
		strings.Join([]string{string(oracle.ReplicaDiffers), judging.SentAs(r), r.Shape()}, "/"))
}

// nodesVerdict is that on a cluster whose members hold different rows; of names what may have divided them.
func nodesVerdict(r *history.ReplicaTrouble, of string) oracle.Verdict {
	return judging.OfServer(oracle.NodesDiffer, r.Expected(), OneLine(r.Actual()),
		"all members of the cluster ("+r.Form+") have applied what any of them has committed",
		strings.Join([]string{string(oracle.NodesDiffer), r.Shape(), of}, "/"))
}

// divides names what of a case is likeliest to have come to one member otherwise than to another, for a fingerprint:
// what is undone in the middle of a transaction, which a node sends as a whole.
func divides(c *corpus.Case, h *history.History) string {
	said := map[stmt.Kind]bool{}
	failed := false
	for i := range h.Stmts {
		st := &h.Stmts[i]
		kind := stmt.KindOf(c.Steps[st.Line].Stmt)
		said[kind] = true
		failed = failed || st.Result.Err != nil && st.Result.InTxn
	}
	switch {
	case said[stmt.RollbackTo]:
		return "rollback-to"
	case said[stmt.Savepoint]:
		return "savepoint"
	case failed:
		return "failed-statement"
	}
	return "plain"
}

// event is what a replica says that it could not do: an event of rows, or a statement.
var event = regexp.MustCompile(`(?i)\b(Write_rows|Update_rows|Delete_rows)|Query: '\W*(\w+ ?\w*)`)

func stoppedFingerprint(r *history.ReplicaTrouble) string {
	parts := []string{string(oracle.ReplicaStopped), judging.SentAs(r), strconv.Itoa(r.Code)}
	if m := event.FindStringSubmatch(r.Text); m != nil {
		parts = append(parts, strings.ToLower(strings.ReplaceAll(m[1]+m[2], " ", "-")))
	} else if r.Code == 0 {
		sum := sha256.Sum256([]byte(Volatile.ReplaceAllString(r.Text, "#")))
		parts = append(parts, hex.EncodeToString(sum[:4]))
	}
	return strings.Join(parts, "/")
}

// whyNot says why a target has not a level that its server has.
func (t *Target) whyNot(l corpus.Level) string {
	_, replicated := t.backend.(harness.Replicated)
	if replicated && l < corpus.RepeatableRead && t.server.Settings["binlog_format"] == "STATEMENT" {
		return "a binary log in STATEMENT form takes no change of InnoDB below REPEATABLE READ (error 1665)"
	}
	return ""
}

// SendsRows says that a target, by its name, is a primary with a replica, which txnfuzz starts, and which is sent rows, not
// statements alone, nor pages as a standby of PostgreSQL is.
func SendsRows(name string) bool { return !IsDSN(name) && sendsRows.MatchString(name) }

var sendsRows = regexp.MustCompile(`,replica=(row|mixed)\b`)

// OfSeveral says that a target, by its name, is several servers which txnfuzz starts: a primary with a replica, or a
// cluster.
func OfSeveral(name string) bool { return !IsDSN(name) && ofSeveral.MatchString(name) }

// ofSeveral matches what makes a target of ours several servers; of a data source name the options only, as galera may be
// a user there.
var ofSeveral = regexp.MustCompile(`^galera\b[^/]*$|[,?&](replica|standby|nodes|group)=`)
