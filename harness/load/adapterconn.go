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
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// adapterVerbs are the operations of the workloads, as an adapter is told them.
var adapterVerbs = map[kv.Workload]map[kv.Kind]string{
	kv.ListAppend: {kv.ReadList: "read-list", kv.Append: "append"},
	kv.Register:   {kv.Read: "read", kv.Write: "write"},
	kv.Bank:       {kv.Read: "read", kv.Delta: "add", kv.Write: "write"},
}

// adapterConn is a process that is told operations. One goroutine uses it.
type adapterConn struct {
	adapter *Adapter
	cmd     *exec.Cmd
	in      io.WriteCloser
	timeout time.Duration
	stderr  tail
	lines   chan []byte   // of its standard output; closed at its end
	ended   chan struct{} // nobody takes lines any more
	end     sync.Once
	request []byte
}

// startTime is how long the first answer of a process may take at least: many start at once.
const startTime = time.Minute

func adapterDial(a *Adapter) dial {
	return func(_ context.Context, timeout time.Duration) (conn, error) {
		c, err := a.start(max(timeout, startTime))
		if err != nil {
			return nil, err
		}
		_, err = c.ask(fmt.Appendf(nil, `{"op":"open","level":%q}`, a.level))
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

func (c *adapterConn) read(out io.Reader) {
	defer close(c.lines)
	s := bufio.NewScanner(out)
	s.Buffer(nil, longestLine)
	for s.Scan() {
		select {
		case c.lines <- bytes.Clone(s.Bytes()):
		case <-c.ended:
			return
		}
	}
}

// reply is a line of an adapter.
type reply struct {
	OK      *bool           `json:"ok"`
	Value   json.RawMessage `json:"value"`
	Abort   *string         `json:"abort"`
	Unknown *string         `json:"unknown"`
	Error   *string         `json:"error"`
}

// replyForms are the forms of it, for messages.
const replyForms = `want {"ok":true}, of a read {"ok":true,"value":…}, {"abort":"why"}, {"unknown":"why"} or {"error":"what"}`

// ask sends a request and waits for its answer. The error is an *adapterAnswer or an *AdapterError.
func (c *adapterConn) ask(request []byte) (json.RawMessage, error) {
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
	case r.Error != nil:
		return nil, c.failed(request, "answers that it failed: %s", *r.Error)
	case r.Abort != nil:
		return nil, &adapterAnswer{reason: *r.Abort}
	case r.Unknown != nil:
		return nil, &adapterAnswer{unknown: true, reason: *r.Unknown}
	}
	return r.Value, nil
}

func shortened(line []byte) string {
	const most = 200
	if len(line) > most {
		return fmt.Sprintf("%q …", line[:most])
	}
	return fmt.Sprintf("%q", line)
}

func (c *adapterConn) exchange(request []byte) ([]byte, error) {
	late := time.NewTimer(c.timeout)
	defer late.Stop()
	// The pipe holds far more than a request: a process that reads nothing shows in its missing answer.
	if _, err := c.in.Write(append(request, '\n')); err != nil && !errors.Is(err, syscall.EPIPE) {
		return nil, c.failed(request, "cannot be written to: %v", err)
	}
	select {
	case line, ok := <-c.lines:
		if ok {
			return line, nil
		}
		_ = c.in.Close()
		return nil, c.failed(request, "ended its standard output (%s)", c.wait())
	case <-late.C:
		return nil, c.failed(request, "does not answer for %s", c.timeout)
	}
}

func (c *adapterConn) failed(request []byte, format string, args ...any) error {
	return &AdapterError{
		Command: c.adapter.command, Says: fmt.Sprintf(format, args...),
		Request: string(bytes.TrimSpace(request)), Stderr: c.stderr.String(),
	}
}

// wait ends the process and tells how it ended.
func (c *adapterConn) wait() string {
	says := ""
	c.end.Do(func() {
		close(c.ended)
		_ = c.in.Close()
		kill := time.AfterFunc(time.Second, func() { _ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) })
		err := c.cmd.Wait()
		kill.Stop()
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
	_, err := c.ask(fmt.Appendf(nil, `{"op":"setup","workload":%q}`, workload))
	var aborted *adapterAnswer
	if errors.As(err, &aborted) {
		return c.failed(nil, "cannot set up: %s", aborted.reason)
	}
	return err
}

func (c *adapterConn) begin() error {
	_, err := c.ask(fmt.Appendf(nil, `{"op":"begin","level":%q}`, c.adapter.level))
	return err
}

func (c *adapterConn) endWith(how string) error {
	op := "commit"
	if how == "ROLLBACK" {
		op = "rollback"
	}
	_, err := c.ask(fmt.Appendf(nil, `{"op":%q}`, op))
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
		value, err := c.ask(c.request)
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
