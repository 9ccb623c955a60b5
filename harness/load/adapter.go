package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// AdapterScheme begins the name of a target that is reached through an adapter; the adapter's command follows.
const AdapterScheme = "adapter:"

// Adapter is a Backend whose sessions are processes of a user's program, one for each client. They are told operations
// instead of SQL: a line of JSON each way.
type Adapter struct {
	command string // for the shell
	level   corpus.Level
}

// NewAdapter returns the backend behind a command, whose transactions are asked for at a level. No process is started
// before a session is opened.
func NewAdapter(command string, level corpus.Level) *Adapter { return &Adapter{command, level} }

// adapted is the family of what lies behind an adapter, of which nothing is known.
const adapted history.DBMS = "adapter"

// Server implements harness.Backend.
func (a *Adapter) Server() history.Server {
	return history.Server{DBMS: adapted, Version: "behind an adapter"}
}

// Prober implements harness.Backend.
func (a *Adapter) Prober(context.Context) (harness.Prober, error) {
	return nil, errors.New("nobody can ask an adapter who waits")
}

// Log implements harness.Backend.
func (a *Adapter) Log() string { return "" }

// Alive implements harness.Backend.
func (a *Adapter) Alive(context.Context) error { return nil }

// Close implements harness.Backend. Each session ends its own process.
func (a *Adapter) Close() error { return nil }

// AdapterError is a failure of an adapter's process: it could not be started, ended, did not answer in time, or
// answered what is no answer. None of these says anything about what lies behind it.
type AdapterError struct {
	Command string
	Says    string
	// Request is the line that it was sent; empty: none was. Stderr is the end of its standard error.
	Request, Stderr string
	// OutOfStep: it has answered with what is no answer to the request, perhaps for a while.
	OutOfStep bool
}

func (e *AdapterError) Error() string {
	s := fmt.Sprintf("the adapter %s: %s", e.Command, e.Says)
	if e.Request != "" {
		s += fmt.Sprintf("; it was sent %s", e.Request)
	}
	if e.Stderr == "" {
		return s + "; it wrote nothing to its standard error"
	}
	return s + "; its standard error ends with:\n" + strings.TrimRight(e.Stderr, "\n")
}

// adapterAnswer is the answer of an adapter that a transaction was aborted or that its outcome is unknown.
type adapterAnswer struct {
	unknown bool
	reason  string
}

func (e *adapterAnswer) Error() string {
	if e.unknown {
		return "the adapter does not know the outcome: " + e.reason
	}
	return "aborted: " + e.reason
}

// What codes of an adapter's answers begin with. After either the transaction is over.
const (
	adapterAborts  = "aborted: "
	adapterUnknown = "unknown: "
)

// code tells answers apart by their reason, in which numbers, such as those of transactions, do not matter.
func (e *adapterAnswer) code() code {
	reason := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return '#'
		}
		return r
	}, e.reason)
	if len(reason) > 80 {
		reason = strings.ToValidUTF8(reason[:80], "") + " …"
	}
	if e.unknown {
		return code(adapterUnknown + reason)
	}
	return code(adapterAborts + reason)
}

// abortOf tells what is known of an error.
func abortOf(c code) (abort, bool) {
	if strings.HasPrefix(string(c), adapterAborts) || strings.HasPrefix(string(c), adapterUnknown) {
		return abort{ended: true, usual: true}, true
	}
	a, known := aborts[c]
	return a, known
}

// outOfStep tells whether among the causes of an error is an adapter whose answers cannot be trusted.
func outOfStep(err error) bool {
	var failure *AdapterError
	return errors.As(err, &failure) && failure.OutOfStep
}

// inStep makes sure that an answer which no data explains is an answer to what was asked.
func (c *client) inStep(wrong error) error {
	a, ok := c.session.conn.(*adapterConn)
	if !ok {
		return wrong
	}
	if err := c.session.end("ROLLBACK"); adapterFailed(err) {
		return err
	}
	if err := a.quiet(); err != nil {
		return err
	}
	return wrong
}

// adapterFailed tells whether a failure of an adapter is among the causes of an error.
func adapterFailed(err error) bool { return errors.As(err, new(*AdapterError)) }

// tail keeps the end of what a process writes to its standard error.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailBytes = 4000

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if over := len(t.b) - tailBytes; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(t.b, nil))
}

// operations tells whether clients send operations instead of SQL.
func (r *run) operations() bool {
	_, ok := r.backend.(*Adapter)
	return ok
}

// checkAdapter reports settings that make no sense with an adapter.
func (s *Settings) checkAdapter() error {
	w, err := findWorkload(s.Workload)
	if err != nil {
		return err
	}
	asked := declared[s.Declared]
	switch {
	case s.Workload == chainName:
		return errors.New("workload chain reads several keys at once, which an adapter is not asked for: want append, " +
			"register, mini or bank")
	case !s.Protocol.IsText():
		return errors.New("--protocol: an adapter is told operations, and sends them as it likes")
	case s.Bystanders > 0:
		return errors.New("--bystanders: an adapter is not asked for transactions of no workload")
	case adapterVerbs[w.kind()] == nil:
		return fmt.Errorf("workload %s needs SQL, which an adapter is not sent: want append, register, mini or bank",
			s.Workload)
	case len(s.Models) == 0 && s.Declared == "":
		return errors.New("nobody knows what lies behind an adapter: want --model or --promise, which says what is checked")
	case asked.views == perStatement && w.kind() == kv.Bank:
		return errors.New("workload bank reads accounts one by one from an adapter, and of reads one by one nothing is promised " +
			"that each has a snapshot of its own for: want another workload")
	}
	return nil
}

// setUp opens the control session and tells the adapter to begin with nothing. The context ends it at once.
func (r *run) setUp(ctx context.Context) error {
	err := r.control.connect(ctx)
	if err == nil {
		c := r.control.conn.(*adapterConn)
		unhook := context.AfterFunc(ctx, c.interrupt)
		c.timeout = openTime(r.settings.Timeout)
		err = c.setUp(r.settings.Workload)
		c.timeout = r.settings.Timeout
		unhook()
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("interrupted before the adapter was set up: %w", err)
	}
	return err
}

// emptyKeys is how many keys are looked at behind setup: an earlier run has begun with them, too.
const emptyKeys = 16

// checkEmpty reads some keys of which nobody has written any: what is there an earlier run has left.
func (r *run) checkEmpty(e *epoch) error {
	s := r.workload.readAll(e)
	s.whole, s.key, s.val = true, e.keys.first, min(e.keys.first+emptyKeys-1, e.keys.last())
	return r.persist(func(c *session) error {
		a, err := r.transact(c, s)
		if err != nil {
			return fmt.Errorf("read some keys behind setup: %w", err)
		}
		for _, row := range a.rows {
			if text, ok := row[1].([]byte); ok && len(text) == 0 {
				continue
			}
			value := fmt.Sprint(row[1])
			if text, ok := row[1].([]byte); ok {
				value = "[" + string(text) + "]"
			}
			return &AdapterError{
				Command: r.backend.(*Adapter).command, Stderr: c.conn.(*adapterConn).stderr.String(),
				Says: fmt.Sprintf("answers %s to a read of key %v right behind setup, when nobody has written it: setup must "+
					"make an empty store, and what an earlier run left must be gone", value, row[0]),
			}
		}
		return nil
	})
}

// transact runs steps in a transaction of the control session, again when that is aborted, and gives the answer of the
// last one.
func (r *run) transact(s *session, steps ...step) (a *answer, err error) {
	end := time.Now().Add(r.patience())
	for {
		if err = s.begin("BEGIN"); err == nil {
			for _, x := range steps {
				if _, a, err = s.step(r.workload, r.dialect, nil, x); err != nil {
					break
				}
			}
		}
		if err == nil {
			err = s.end("COMMIT")
		}
		known := errors.As(err, new(*adapterAnswer))
		switch {
		case !known || adapterFailed(err):
			return a, err
		case time.Now().After(end):
			return a, fmt.Errorf("the adapter %s: for %s, with nothing else going on: %w", r.backend.(*Adapter).command,
				r.patience(), err)
		}
	}
}

// fillByOperations loads the rows of an epoch: accounts have a balance from the beginning, anything else is absent.
func (r *run) fillByOperations(e *epoch, all bool) error {
	switch {
	case r.workload.kind() == kv.Bank && (e.number == 0 || all):
	case r.workload.kind() != kv.Bank && e.number == 0 && !all:
		return r.checkEmpty(e)
	default:
		return nil
	}
	last := e.keys.first + accounts - 1
	if all {
		last = e.keys.last()
	}
	for from := e.keys.first; from <= last; from += accounts {
		var steps []step
		for k := from; k < from+accounts; k++ {
			steps = append(steps, step{kind: kv.Write, key: k, val: balance})
		}
		if err := r.persist(func(s *session) error { _, err := r.transact(s, steps...); return err }); err != nil {
			return fmt.Errorf("write the balances of accounts: %w", err)
		}
	}
	return nil
}

// readWhole reads what a step of several keys asks for.
func (r *run) readWhole(s *session, x step, sql string) (*answer, error) {
	if r.operations() {
		return r.transact(s, x)
	}
	return s.query(sql)
}

// connectAll opens the sessions of clients before anything is timed: processes may take long to start. A session that
// cannot be opened is told by its client.
func connectAll(ctx context.Context, clients []*client) {
	var wait sync.WaitGroup
	for _, c := range clients {
		wait.Go(func() { _ = c.session.connect(ctx) })
	}
	wait.Wait()
}

// start starts the process of a session, in a group of its own: Ctrl-C is for txnfuzz, which ends the processes when
// their transactions are through, and whatever the shell starts ends with it.
func (a *Adapter) start(timeout time.Duration) (*adapterConn, error) {
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start an adapter: %w", err)
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start an adapter: %w", errors.Join(err, out.Close(), theirOut.Close()))
	}
	c := &adapterConn{adapter: a, timeout: timeout, in: in, out: out, answers: bufio.NewReaderSize(out, 1<<16)}
	c.cmd = exec.Command("/bin/sh", "-c", a.command)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = theirIn, theirOut, &c.stderr
	c.cmd.WaitDelay = time.Second
	err = c.cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, &AdapterError{Command: a.command, Says: "cannot be started: " + err.Error()}
	}
	return c, nil
}
