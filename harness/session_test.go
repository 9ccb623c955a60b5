package harness_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/direct"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// memory is a server that has one row, (1, b), and one lock on it. Its sessions are no
// MySQL driver's: they are called, or spoken to in lines of JSON over a socket.
type memory struct {
	over func(*memory, uint64) (harness.Session, error)

	mu       sync.Mutex
	released *sync.Cond
	wake     chan struct{}
	b        int               // committed
	written  int               // by the holder
	holder   uint64            // of the lock; 0: nobody
	waiting  map[uint64]uint64 // who waits for whom
	open     map[uint64]bool   // sessions with a transaction
	ended    map[uint64]bool   // sessions that were cut
	last     uint64            // the number of the latest session
}

func newMemory(over func(*memory, uint64) (harness.Session, error)) *memory {
	m := &memory{over: over, wake: make(chan struct{}, 1), waiting: map[uint64]uint64{}, open: map[uint64]bool{}, ended: map[uint64]bool{}}
	m.released = sync.NewCond(&m.mu)
	return m
}

func (m *memory) Server() history.Server {
	return history.Server{DBMS: history.MySQL, Version: "0.1-memory"}
}

func (m *memory) Open(context.Context, bool) (harness.Session, error) {
	m.mu.Lock()
	m.last++
	id := m.last
	m.mu.Unlock()
	return m.over(m, id)
}

func (m *memory) Prober(context.Context) (harness.Prober, error) { return m, nil }

func (m *memory) Log() string { return "" }

func (m *memory) Alive(context.Context) error { return nil }

func (m *memory) Close() error { return nil }

// Waiting implements harness.Prober, as Wake and Close do.
func (m *memory) Waiting(_ context.Context, conns []uint64) ([]harness.Waiting, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []harness.Waiting
	for _, c := range conns {
		if holder := m.waiting[c]; holder != 0 {
			out = append(out, harness.Waiting{
				Conn: c, Kind: history.RowLock, Holders: []uint64{holder}, ID: "the row",
				At: &history.Place{Table: "t", Index: "PRIMARY", Fields: []string{"1"}},
			})
		}
	}
	return out, nil
}

func (m *memory) Wake() <-chan struct{} { return m.wake }

// execute runs the statements of a text; ok is false for a session that was cut.
func (m *memory) execute(id uint64, text string) (r harness.Reply, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.InTxnTold = true
	for _, sql := range strings.Split(text, ";") {
		if r.Columns != nil {
			r.Earlier = append(r.Earlier, harness.RowSet{Columns: r.Columns, Rows: r.Rows})
		}
		if r.Result = m.one(id, strings.TrimSpace(sql)); r.Err != nil {
			break
		}
	}
	r.At = time.Now()
	return r, !m.ended[id]
}

func (m *memory) one(id uint64, sql string) (r history.Result) {
	r = history.Result{Matched: -1, Changed: -1, Affected: -1}
	defer func() { r.InTxn = m.open[id] }()
	row := func(b int) {
		r.Columns, r.Rows = []string{"a", "b"}, [][]history.Cell{{{Text: "1"}, {Text: strconv.Itoa(b)}}}
	}
	words := strings.Fields(strings.NewReplacer("`", "", "=", " ").Replace(sql))
	switch words[0] {
	case "BEGIN":
		m.open[id] = true
	case "COMMIT", "ROLLBACK":
		m.end(id, words[0] == "COMMIT")
	case "INSERT":
		m.b = 10
	case "SELECT":
		row(m.b)
		if m.holder == id {
			row(m.written)
		}
	case "UPDATE": // the new value is the last word
		for m.holder != 0 && m.holder != id && !m.ended[id] {
			m.waiting[id] = m.holder
			select {
			case m.wake <- struct{}{}:
			default:
			}
			m.released.Wait()
		}
		delete(m.waiting, id)
		if m.ended[id] {
			return r
		}
		m.holder = id
		if m.written, _ = strconv.Atoi(words[len(words)-1]); m.written < 0 {
			m.end(id, false)
			r.Err = &history.Error{Code: 23514, State: "23514", Message: "check violated, transaction rolled back"}
			return r
		}
		r.Matched, r.Changed, r.Affected, r.Warnings = 1, 1, 1, 3
		if !m.open[id] {
			m.end(id, true)
		}
	case "CREATE", "DROP", "USE", "SET", "DELETE": // one table, one level, always the same row
	case "KILL":
		other, _ := strconv.ParseUint(words[1], 10, 64)
		m.kill(other)
	default:
		r.Err = &history.Error{Code: 42601, State: "42601", Message: "syntax error: " + sql}
	}
	return r
}

// end ends a transaction, or a statement outside of one.
func (m *memory) end(id uint64, commit bool) {
	delete(m.open, id)
	if m.holder != id {
		return
	}
	if commit {
		m.b = m.written
	}
	m.holder = 0
	clear(m.waiting)
	m.released.Broadcast()
}

func (m *memory) cut(id uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kill(id)
}

func (m *memory) kill(id uint64) {
	m.ended[id] = true
	m.end(id, false)
	m.released.Broadcast()
}

var errCut = errors.New("the session was cut")

// called is a Session whose statements are calls.
type called struct {
	*memory
	id uint64
}

func overCalls(m *memory, id uint64) (harness.Session, error) { return &called{m, id}, nil }

func (s *called) ID() uint64 { return s.id }

func (s *called) Execute(sql string) (harness.Reply, error) {
	r, ok := s.execute(s.id, sql)
	if !ok {
		return r, errCut
	}
	return r, nil
}

func (s *called) Cut() { s.cut(s.id) }

func (s *called) Close() error {
	s.cut(s.id)
	return nil
}

// spoken is a Session over a socket: a statement is a JSON string, an answer a JSON object,
// each on a line.
type spoken struct {
	id      uint64
	conn    net.Conn
	socket  *direct.Conn
	partial []byte
}

// overSockets serves each session by a goroutine behind a socket in dir.
func overSockets(dir string) func(*memory, uint64) (harness.Session, error) {
	return func(m *memory, id uint64) (harness.Session, error) {
		l, err := net.Listen("unix", filepath.Join(dir, strconv.FormatUint(id, 10)))
		if err != nil {
			return nil, err
		}
		defer l.Close()
		near, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			return nil, err
		}
		far, err := l.Accept()
		if err != nil {
			return nil, err
		}
		go serve(m, id, far)
		s := &spoken{id: id, conn: direct.New(near)}
		s.socket, _ = s.conn.(*direct.Conn)
		return s, nil
	}
}

func serve(m *memory, id uint64, far net.Conn) {
	defer far.Close()
	in, out := json.NewDecoder(bufio.NewReader(far)), json.NewEncoder(far)
	for {
		var sql string
		if in.Decode(&sql) != nil {
			m.cut(id)
			return
		}
		if r, ok := m.execute(id, sql); !ok || out.Encode(r) != nil {
			return
		}
	}
}

func (s *spoken) ID() uint64 { return s.id }

func (s *spoken) Socket() *direct.Conn { return s.socket }

func (s *spoken) Send(sql string) error { return json.NewEncoder(s.conn).Encode(sql) }

func (s *spoken) Receive() (r harness.Reply, done bool, err error) {
	for {
		buf := make([]byte, 7) // so small that answers come in pieces
		n, err := s.socket.TryRead(buf)
		switch {
		case direct.Empty(err):
			return r, false, nil
		case err != nil:
			return r, false, err
		}
		if done, err := s.take(buf[:n], &r); done || err != nil {
			return r, done, err
		}
	}
}

func (s *spoken) Execute(sql string) (r harness.Reply, err error) {
	if err := s.Send(sql); err != nil {
		return r, err
	}
	buf := make([]byte, 7)
	for {
		n, err := s.conn.Read(buf)
		if err != nil {
			return r, err
		}
		if done, err := s.take(buf[:n], &r); done || err != nil {
			return r, err
		}
	}
}

// take adds to the line that is coming in, and reads it when it is whole.
func (s *spoken) take(part []byte, r *harness.Reply) (done bool, err error) {
	s.partial = append(s.partial, part...)
	line, ok := strings.CutSuffix(string(s.partial), "\n")
	if !ok {
		return false, nil
	}
	s.partial = s.partial[:0]
	return true, json.Unmarshal([]byte(line), r)
}

func (s *spoken) Cut() { _ = s.conn.(interface{ CloseRead() error }).CloseRead() }

func (s *spoken) Close() error { return s.conn.Close() }

// eachSession runs a case on a server in memory, through calls and over sockets.
func eachSession(t *testing.T, text string, o harness.PoolOptions, check func(t *testing.T, h *history.History)) {
	for name, over := range map[string]func(*memory, uint64) (harness.Session, error){
		"goroutines": overCalls, "polled": overSockets(t.TempDir()),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			pool, err := harness.NewPool(ctx, newMemory(over), o)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := pool.Close(); err != nil {
					t.Error(err)
				}
			}()
			c, err := corpus.Parse(t.Name(), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			for range 3 { // the sessions, and the tables, are used again
				h, err := pool.Run(ctx, c, harness.At(corpus.RepeatableRead))
				if err != nil {
					t.Fatal(err)
				}
				check(t, h)
			}
		})
	}
}

const oneRow = "/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);\n/* init */ INSERT INTO t VALUES (1, 10);\n"

var (
	plain    = history.Result{Matched: -1, Changed: -1, Affected: -1}
	begun    = history.Result{Matched: -1, Changed: -1, Affected: -1, InTxn: true}
	updated  = history.Result{Matched: 1, Changed: 1, Affected: 1, Warnings: 3, InTxn: true}
	thePlace = &history.Place{Table: "t", Index: "PRIMARY", Fields: []string{"1"}}
)

func reads(b string, inTxn bool) history.Result {
	r := plain
	r.Columns, r.Rows, r.InTxn = []string{"a", "b"}, [][]history.Cell{{{Text: "1"}, {Text: b}}}, inTxn
	return r
}

func tables(b string) []history.Table {
	r := reads(b, false)
	return []history.Table{{Name: "t", Columns: r.Columns, Rows: r.Rows}}
}

// TestAnotherDriver runs a case whose second session waits, through Sessions that are no
// MySQL driver's, and holds the whole history.
func TestAnotherDriver(t *testing.T) {
	eachSession(t, oneRow+`/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11;
/* tx2 */ UPDATE t SET b = 12;
/* tx2 */ SELECT * FROM t;
/* tx1 */ SELECT * FROM t;
/* tx1 */ COMMIT;
`, harness.PoolOptions{}, func(t *testing.T, h *history.History) {
		alone := updated
		alone.InTxn = false
		want := &history.History{
			Server:  history.Server{DBMS: history.MySQL, Version: "0.1-memory"},
			Levels:  map[int]corpus.Level{1: corpus.RepeatableRead, 2: corpus.RepeatableRead},
			Initial: tables("10"), Final: tables("12"),
			Stmts: []history.Stmt{
				{Line: 0, Session: 1, Submit: 1, Return: 2, Result: begun},
				{Line: 1, Session: 1, Submit: 3, Return: 4, InTxn: true, Result: updated},
				{Line: 2, Session: 2, Submit: 5, Return: 12, Result: alone, Waits: []history.Wait{
					{Kind: history.RowLock, From: 6, Until: 11, Holders: []int{1}, At: thePlace},
				}},
				{Line: 4, Session: 1, Submit: 7, Return: 8, InTxn: true, Result: reads("11", true)},
				{Line: 5, Session: 1, Submit: 9, Return: 10, InTxn: true, Result: plain},
				{Line: 3, Session: 2, Submit: 13, Return: 14, Parked: true, Result: reads("12", false)},
			},
		}
		if diff := cmp.Diff(want, h); diff != "" {
			t.Errorf("history (-want +got):\n%s", diff)
		}
	})
}

// TestAnotherDriverTellsOfTransactions: where an error says that the transaction is over,
// nothing is inferred from its code.
func TestAnotherDriverTellsOfTransactions(t *testing.T) {
	eachSession(t, oneRow+`/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT s;
/* tx1 */ UPDATE t SET b = -1;
/* tx1 */ SELECT * FROM t;
`, harness.PoolOptions{}, func(t *testing.T, h *history.History) {
		refused, failed := h.Stmts[1].Result, h.Stmts[2].Result
		if refused.Err == nil || !refused.InTxn || !h.Stmts[2].InTxn {
			t.Errorf("a refused statement: %+v, want an error and an open transaction", refused)
		}
		if failed.Err == nil || failed.InTxn || h.Stmts[3].InTxn {
			t.Errorf("a failed statement: %+v, want an error and no transaction", failed)
		}
	})
}

// TestAnotherDriverIsKilled: a session that waits for ever ends, and the next run is sound.
func TestAnotherDriverIsKilled(t *testing.T) {
	eachSession(t, oneRow+`/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11;
/* tx2 */ UPDATE t SET b = 12;
`, harness.PoolOptions{DeadLine: 100 * time.Millisecond}, func(t *testing.T, h *history.History) {
		if h.End != history.Stuck || h.Final != nil || h.Stmts[2].Return != 0 {
			t.Errorf("end %q with %+v, want a statement that is stuck", h.End, h.Stmts)
		}
	})
}
