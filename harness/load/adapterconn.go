package load

import (
	"bufio"
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// adapterVerbs are the operations of the workloads, as an adapter is told them.
var adapterVerbs = map[kv.Workload]map[kv.Kind]string{
	kv.ListAppend: {kv.ReadList: "read-list", kv.Append: "append"},
	kv.Register:   {kv.Read: "read", kv.Write: "write"},
	kv.Bank:       {kv.Read: "read", kv.Delta: "add", kv.Write: "write"},
}

// adapterConn is a process that is told operations. One goroutine uses it; interrupt may be called by any.
type adapterConn struct {
	adapter *Adapter
	cmd     *exec.Cmd
	in, out *os.File // pipes to its standard input and from its standard output
	answers *bufio.Reader
	timeout time.Duration
	stderr  tail
	end     sync.Once
	request []byte
	id      int64 // of the last request
	cut     atomic.Bool
	broken  error // what it failed with: what it answers then means nothing
	peeked  [512]byte
}

// openTime is how long the first answer of a process may take: many start at once, and each may load much.
func openTime(timeout time.Duration) time.Duration { return max(6*timeout, 5*time.Second) }

func adapterDial(a *Adapter) dial {
	return func(ctx context.Context, timeout time.Duration) (conn, error) {
		c, err := a.start(openTime(timeout))
		if err != nil {
			return nil, err
		}
		defer context.AfterFunc(ctx, c.interrupt)()
		_, err = c.ask(fmt.Appendf(nil, `{"op":"open","level":%q}`, a.level), false)
		var refused *adapterAnswer
		if errors.As(err, &refused) {
			err = c.failed(nil, "cannot open a session: %s", refused.reason)
		}
		if err != nil {
			c.close()
			return nil, err
		}
		c.timeout = timeout
		return c, nil
	}
}

// longestLine bounds an answer.
const longestLine = 16 << 20

// flushHint is about the most common mistake.
const flushHint = "an answer comes only when standard output is flushed behind it"

// reply is a line of an adapter.
type reply struct {
	ID      *int64          `json:"id"`
	OK      *bool           `json:"ok"`
	Value   json.RawMessage `json:"value"`
	Abort   *string         `json:"abort"`
	Unknown *string         `json:"unknown"`
	Error   *string         `json:"error"`
}

// replyForms are the forms of it, for messages.
const replyForms = `want {"ok":true}, of a read {"ok":true,"value":…}, {"abort":"why"}, {"unknown":"why"} or ` +
	`{"error":"what"}, and nothing else on standard output`

// ask sends a request and waits for its answer. The error is an *adapterAnswer or an *AdapterError.
func (c *adapterConn) ask(request []byte, reads bool) (json.RawMessage, error) {
	c.id++
	request = fmt.Appendf(request[:len(request)-1], `,"id":%d}`, c.id)
	line, err := c.exchange(request)
	if err != nil {
		return nil, err
	}
	var r reply
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil || d.More() {
		return nil, c.failed(request, "answers %s, which is no answer: %s", shortened(line), replyForms)
	}
	said := 0
	for _, is := range []bool{r.OK != nil, r.Abort != nil, r.Unknown != nil, r.Error != nil} {
		if is {
			said++
		}
	}
	switch {
	case said != 1 || r.OK != nil && !*r.OK:
		return nil, c.failed(request, "answers %s, which is no answer: %s", shortened(line), replyForms)
	case r.ID != nil && *r.ID != c.id:
		return nil, c.outOfStep(request, "answers %s, which is the answer to another request", shortened(line))
	case r.Error != nil && *r.Error == "":
		return nil, c.failed(request, "answers that it failed, and not why")
	case r.Error != nil:
		return nil, c.failed(request, "answers that it failed: %s", *r.Error)
	case r.Abort != nil:
		return nil, &adapterAnswer{reason: *r.Abort}
	case r.Unknown != nil:
		return nil, &adapterAnswer{unknown: true, reason: *r.Unknown}
	case !reads && len(r.Value) > 0 && string(r.Value) != "null":
		return nil, c.outOfStep(request,
			`answers %s, but only a read has a "value": is that the answer to an earlier request?`, shortened(line))
	}
	return r.Value, nil
}

// shortened quotes a line, without escapes where it is text that needs none.
func shortened(line []byte) string {
	const most = 200
	more := ""
	if len(line) > most {
		line, more = line[:most], " …"
	}
	if json.Valid(line) || more != "" && !bytes.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return string(line) + more
	}
	return fmt.Sprintf("%q", line) + more
}

// exchange sends a line and returns the next one. A line that came before is an answer to nothing: were it taken for
// one, every later answer would be that to an earlier request.
func (c *adapterConn) exchange(request []byte) ([]byte, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	end := time.Now().Add(c.timeout)
	// A pipe of the system always has deadlines.
	_ = c.in.SetWriteDeadline(end)
	_ = c.out.SetReadDeadline(end)
	if c.cut.Load() {
		return nil, c.failed(request, "was not waited for: interrupted")
	}
	if early := c.early(); early != nil {
		return nil, c.outOfStep(request, "wrote %s before it was sent this request: want one line for each request, and "+
			"nothing else on standard output", shortened(early))
	}
	switch _, err := c.in.Write(append(request, '\n')); {
	case err == nil || errors.Is(err, syscall.EPIPE): // why it has ended its standard output tells more
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, c.late(request, "does not read its standard input for %s", c.timeout)
	default:
		return nil, c.failed(request, "cannot be written to: %v", err)
	}
	line, err := c.line()
	switch {
	case err == nil:
		return line, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, c.late(request, "does not answer for %s (%s)", c.timeout, flushHint)
	case errors.Is(err, bufio.ErrTooLong):
		return nil, c.failed(request, "answers with a line of more than %d bytes", longestLine)
	}
	_ = c.in.Close()
	return nil, c.failed(request, "ended its standard output (%s)", c.wait())
}

// line reads the next line; the last one need not be ended.
func (c *adapterConn) line() ([]byte, error) {
	var line []byte
	for {
		part, err := c.answers.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil || err == io.EOF && len(line) > 0:
			return bytes.TrimRight(line, "\r\n"), nil
		case err != bufio.ErrBufferFull:
			return nil, err
		case len(line) > longestLine:
			return nil, bufio.ErrTooLong
		}
	}
}

// early returns what is there to be read before anything was asked for, without waiting for it; nil: nothing is.
func (c *adapterConn) early() []byte {
	b, _ := c.answers.Peek(c.answers.Buffered())
	if len(b) == 0 {
		raw, err := c.out.SyscallConn()
		if err != nil {
			return nil
		}
		b = c.peeked[:]
		n := 0
		// The pipe does not block, so this read returns at once, with an error if there is nothing.
		_ = raw.Read(func(fd uintptr) bool {
			n, _ = syscall.Read(int(fd), b)
			return true
		})
		b = b[:max(n, 0)]
	}
	if len(b) == 0 {
		return nil
	}
	if line, _, ended := bytes.Cut(b, []byte{'\n'}); ended {
		return line
	}
	return b
}

// settle is how long an idle process is watched at the end of an epoch.
const settle = 20 * time.Millisecond

// quiet fails if the process writes something although nothing was asked.
func (c *adapterConn) quiet() error {
	if c.broken != nil {
		return nil // which was told
	}
	_ = c.out.SetReadDeadline(time.Now().Add(settle))
	if b, _ := c.answers.Peek(1); len(b) == 0 {
		return nil
	}
	return c.outOfStep(nil, "wrote %s when every request was answered: want one line for each request, and nothing else "+
		"on standard output", shortened(c.early()))
}

// interrupt ends whatever is waited for.
func (c *adapterConn) interrupt() {
	c.cut.Store(true)
	now := time.Now()
	_ = c.in.SetWriteDeadline(now)
	_ = c.out.SetReadDeadline(now)
}

// late tells of a deadline that has passed.
func (c *adapterConn) late(request []byte, format string, args ...any) error {
	if c.cut.Load() {
		return c.failed(request, "had not answered when the run was interrupted")
	}
	return c.failed(request, format, args...)
}

// outOfStep tells of a process whose answers are not those to the requests: what it has answered before may be wrong,
// too.
func (c *adapterConn) outOfStep(request []byte, format string, args ...any) error {
	err := c.failed(request, format, args...)
	var failure *AdapterError
	if errors.As(err, &failure) {
		failure.OutOfStep = true
	}
	return err
}

func (c *adapterConn) failed(request []byte, format string, args ...any) error {
	c.broken = &AdapterError{
		Command: c.adapter.command, Says: fmt.Sprintf(format, args...),
		Request: string(bytes.TrimSpace(request)), Stderr: c.stderr.String(),
	}
	return c.broken
}

// wait ends the process and tells how it ended.
func (c *adapterConn) wait() string {
	says := ""
	c.end.Do(func() {
		_ = c.in.Close()
		kill := time.AfterFunc(time.Second, func() { _ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) })
		err := c.cmd.Wait()
		kill.Stop()
		_ = c.out.Close()
		// Whatever the shell has left behind.
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		if says = c.cmd.ProcessState.String(); says == "" {
			says = fmt.Sprint(err)
		}
	})
	return says
}

func (c *adapterConn) close() { c.wait() }

// change and query are of SQL, which an adapter is not sent: what a server would be told with it, setUp has said.
func (c *adapterConn) change(string) (int64, error) { return 0, nil }

func (c *adapterConn) query(q string, _ *answer) error {
	return fmt.Errorf("an adapter is not sent SQL: %s", q)
}

func (c *adapterConn) setUp(workload string) error {
	_, err := c.ask(fmt.Appendf(nil, `{"op":"setup","workload":%q}`, workload), false)
	var aborted *adapterAnswer
	if errors.As(err, &aborted) {
		return c.failed(nil, "cannot set up: %s", aborted.reason)
	}
	return err
}

func (c *adapterConn) begin() error {
	_, err := c.ask(fmt.Appendf(nil, `{"op":"begin","level":%q}`, c.adapter.level), false)
	return err
}

func (c *adapterConn) endWith(how string) error {
	op := "commit"
	if how == "ROLLBACK" {
		op = "rollback"
	}
	_, err := c.ask(fmt.Appendf(nil, `{"op":%q}`, op), false)
	return err
}

// adapterLocks is what a request says of a read that locks; the process may ignore it.
var adapterLocks = [...]string{plain: "", forShare: `,"lock":"share"`, forUpdate: `,"lock":"update"`}

func (c *adapterConn) operate(kind kv.Workload, s step, into *answer) error {
	verb := adapterVerbs[kind][s.kind]
	last := s.key
	if s.whole {
		last = s.val
	}
	for k := s.key; k <= last; k++ {
		c.request = fmt.Appendf(c.request[:0], `{"op":%q,"key":%d`, verb, k)
		if s.kind.IsRead() {
			c.request = append(c.request, adapterLocks[s.lock]...)
		} else {
			c.request = fmt.Appendf(c.request, `,"value":%d`, s.val)
		}
		c.request = append(c.request, '}')
		value, err := c.ask(c.request, s.kind.IsRead())
		if err != nil {
			return err
		}
		if !s.kind.IsRead() {
			into.changed = 1
			continue
		}
		cell, err := cellOf(s.kind, value)
		if err != nil {
			return c.failed(c.request, "answers %v", err)
		}
		switch {
		case cell == nil:
		case s.whole:
			into.add([]driver.Value{int64(k), cell})
		default:
			into.add([]driver.Value{cell})
		}
	}
	return nil
}

// cellOf turns the value of an answer into what SQL would have returned: an integer, or a list as its text; nil: there
// is nothing.
func cellOf(kind kv.Kind, value json.RawMessage) (driver.Value, error) {
	if len(value) == 0 {
		return nil, errors.New(`a read without a "value"; it is null where there is nothing`)
	}
	if kind == kv.ReadList {
		var list []int64
		if err := json.Unmarshal(value, &list); err != nil {
			return nil, fmt.Errorf("%s to a read of a list, which is no list of integers", shortened(value))
		}
		if list == nil {
			return nil, nil
		}
		var text []byte
		for i, v := range list {
			if i > 0 {
				text = append(text, ',')
			}
			text = strconv.AppendInt(text, v, 10)
		}
		return text, nil
	}
	var v *int64
	if err := json.Unmarshal(value, &v); err != nil {
		return nil, fmt.Errorf("%s to a read, which is neither an integer nor null", shortened(value))
	}
	if v == nil {
		return nil, nil
	}
	return *v, nil
}
