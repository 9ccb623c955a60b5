package pgsession_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/direct"
	"github.com/txnfuzz/txnfuzz/harness/pgsession"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func cell(text string) history.Cell { return history.Cell{Text: text} }

// set is one row of one column.
func set(column, value string) harness.RowSet {
	return harness.RowSet{Columns: []string{column}, Rows: [][]history.Cell{{cell(value)}}}
}

func TestReplies(t *testing.T) {
	s := open(t, start(t))
	none := history.Result{Matched: -1, Changed: -1, Affected: -1}
	count := func(n int64) history.Result { r := none; r.Affected = n; return r }
	rows := func(columns []string, rows ...[]history.Cell) history.Result {
		r := count(int64(len(rows)))
		r.Columns, r.Rows = columns, rows
		return r
	}
	failed := func(state, message string) history.Result {
		r := none
		r.Err = &history.Error{Code: history.NumberOf(state), State: state, Message: message}
		return r
	}
	in := func(r history.Result) history.Result { r.InTxn = true; return r }
	big := strings.Repeat("x", 3<<20)
	for _, c := range []struct {
		sql     string
		want    history.Result
		earlier []harness.RowSet
	}{
		{sql: "CREATE TABLE t (a INT PRIMARY KEY, b TEXT)", want: none},
		{sql: "INSERT INTO t VALUES (1, NULL), (2, ''), (3, 'ä')", want: count(3)},
		{sql: "SELECT * FROM t ORDER BY a", want: rows([]string{"a", "b"}, []history.Cell{cell("1"), {Null: true}},
			[]history.Cell{cell("2"), cell("")}, []history.Cell{cell("3"), cell("ä")})},
		{sql: "SELECT a FROM t WHERE a > 9", want: rows([]string{"a"})},
		{sql: "SELECT FROM t WHERE a = 1", want: rows([]string{}, []history.Cell{})},
		{sql: "SELECT 1 AS \"?x\", true, 1.50, DATE '2024-02-29'", want: rows([]string{"?x", "?column?", "?column?", "date"},
			[]history.Cell{cell("1"), cell("t"), cell("1.50"), cell("2024-02-29")})},
		{sql: "UPDATE t SET b = b", want: count(3)},
		{sql: "UPDATE t SET b = 'y' WHERE a = 3 RETURNING a", want: rows([]string{"a"}, []history.Cell{cell("3")})},
		{sql: "DELETE FROM t WHERE a > 7", want: count(0)},
		{sql: "", want: none},
		{sql: "BEGIN", want: in(none)},
		{sql: "BEGIN", want: in(none)}, // a warning
		{sql: "INSERT INTO t VALUES (1, 'again')",
			want: failed("23505", `duplicate key value violates unique constraint "t_pkey"`)},
		{sql: "SELECT 1", want: failed("25P02",
			"current transaction is aborted, commands ignored until end of transaction block")},
		{sql: "COMMIT", want: none}, // a ROLLBACK
		{sql: "SELECT 1; SELECT a FROM t WHERE a = 2; UPDATE t SET b = 'z' WHERE a = 2; BEGIN",
			want: in(none), earlier: []harness.RowSet{set("?column?", "1"), set("a", "2")}},
		{sql: "ROLLBACK", want: none},
		{sql: "SELECT 1; SELECT 2; SELECT 1/0; SELECT 3", want: failed("22012", "division by zero"),
			earlier: []harness.RowSet{set("?column?", "1"), set("?column?", "2")}},
		{sql: "SELECT 1/(2 - n) FROM generate_series(1, 3) n", want: failed("22012", "division by zero")},
		{sql: "nonsense", want: failed("42601", `syntax error at or near "nonsense"`)},
		{sql: "SELECT 1\x00", want: failed("08P01", "invalid message format")},
		{sql: "COPY t FROM STDIN", want: failed("57014", "COPY from stdin failed: COPY FROM STDIN has no data here")},
		{sql: "COPY t TO STDOUT", want: count(3)},
		{sql: "SELECT '" + big + "'", want: rows([]string{"?column?"}, []history.Cell{cell(big)})},
		{sql: "SELECT 'after'", want: rows([]string{"?column?"}, []history.Cell{cell("after")})},
	} {
		name := c.sql[:min(len(c.sql), 60)]
		got, err := s.Execute(c.sql)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got.Result); diff != "" {
			t.Errorf("%s: %s", name, diff[:min(len(diff), 1000)])
		}
		if diff := cmp.Diff(c.earlier, got.Earlier); diff != "" {
			t.Errorf("%s: earlier: %s", name, diff)
		}
		if !got.InTxnTold || time.Since(got.At) > time.Minute {
			t.Errorf("%s: the status was not told, or not now: %v", name, got.At)
		}
	}
	if got := s.Parameter("application_name"); got != "txnfuzz" {
		t.Errorf("the session calls itself %q", got)
	}
	rows0, err := s.Query("SELECT pg_backend_pid()")
	if err != nil || rows0[0][0].Text != itoa(s.ID()) {
		t.Errorf("session %d is served by %v (%v)", s.ID(), rows0, err)
	}
}

// TestPipeline sends texts together, more than are sent before an answer is read: each gets the answer that it gets alone.
func TestPipeline(t *testing.T) {
	db := start(t)
	texts := []string{
		"DROP TABLE IF EXISTS p; CREATE TABLE p (a INT PRIMARY KEY)", "INSERT INTO p VALUES (1), (2); SELECT a FROM p ORDER BY a",
		"INSERT INTO p VALUES (3); INSERT INTO p VALUES (1)", "SELECT count(*) FROM p", "BEGIN; INSERT INTO p VALUES (3)", "SELECT 1 / 0",
		"SELECT 1", "ROLLBACK; BEGIN", "SELECT count(*) FROM p", "ROLLBACK", "", "nonsense", "COPY p TO STDOUT",
		"SELECT repeat('x', 100000)", "SELECT '" + strings.Repeat("y", 100000) + "'", "DROP TABLE p",
	}
	for range 2000 {
		texts = append(texts, "SELECT 'a text that makes many not fit at once', n FROM generate_series(1, 3) n")
	}
	one, all := open(t, db), open(t, db)
	got, err := all.Pipeline(texts)
	if err != nil || len(got) != len(texts) {
		t.Fatalf("%d texts have %d answers: %v", len(texts), len(got), err)
	}
	for i, sql := range texts {
		want, err := one.Execute(sql)
		if err != nil {
			t.Fatal(err)
		}
		want.At, got[i].At = time.Time{}, time.Time{}
		if diff := cmp.Diff(want, got[i]); diff != "" {
			t.Errorf("%.60s: %.1000s", sql, diff)
		}
	}
	if got, err := all.Pipeline([]string{"SELECT 1", "SELECT pg_terminate_backend(pg_backend_pid())", "SELECT 2"}); err == nil || len(got) != 1 {
		t.Errorf("of a session that the server has ended: %v, %v", got, err)
	}
}

// TestPolled waits for the socket instead of blocking, with an answer that comes in many pieces.
func TestPolled(t *testing.T) {
	s := open(t, start(t))
	if s.Socket() == nil {
		t.Fatal("the session cannot be waited for")
	}
	set, err := direct.NewSet()
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if err := set.Add(s.Socket()); err != nil {
		t.Fatal(err)
	}
	if err := s.Send("SELECT pg_sleep(0.05), repeat('x', 1000000)"); err != nil {
		t.Fatal(err)
	}
	waited := 0
	for end := time.Now().Add(10 * time.Second); ; {
		r, done, err := s.Receive()
		if err != nil || time.Now().After(end) {
			t.Fatalf("no answer: %v", err)
		}
		if done {
			if len(r.Rows) != 1 || len(r.Rows[0][1].Text) != 1000000 {
				t.Errorf("received %d rows", len(r.Rows))
			}
			break
		}
		waited++
		if _, err := set.Wait(time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if waited == 0 {
		t.Error("Receive has waited")
	}
}

func TestCut(t *testing.T) {
	db := start(t)
	s, other := open(t, db), open(t, db)
	ended := make(chan error)
	go func() {
		_, err := s.Execute("SELECT pg_sleep(10)")
		ended <- err
	}()
	sleeps(t, other, s.ID())
	s.Cut()
	s.Cut()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a session that was cut answers")
		}
	case <-time.After(500 * time.Millisecond):
		t.Fatal("Execute goes on")
	}
	// The server is not told.
	rows, err := other.Query("SELECT wait_event FROM pg_stat_activity WHERE pid = " + itoa(s.ID()))
	if err != nil || len(rows) != 1 || rows[0][0].Text != "PgSleep" {
		t.Errorf("the statement that was cut off: %v, %v", rows, err)
	}
}

func TestTerminated(t *testing.T) {
	db := start(t)
	s, other := open(t, db), open(t, db)
	go func() {
		sleeps(t, other, s.ID())
		_, _ = other.Query("SELECT pg_terminate_backend(" + itoa(s.ID()) + ")")
	}()
	r, err := s.Execute("SELECT pg_sleep(10)")
	if err == nil || r.Err == nil || r.Err.State != "57P01" {
		t.Errorf("of a session that the server has ended: %+v, %v", r, err)
	}
}

// TestNotifications: notifications come with the answer behind which they were sent or, while nobody asks anything,
// with the next one.
func TestNotifications(t *testing.T) {
	db := start(t)
	listens, notifies := open(t, db), open(t, db)
	must(t, listens, "LISTEN c")
	must(t, notifies, "NOTIFY c, 'x'; NOTIFY c")
	var got []harness.Notification
	for range 2 {
		r, err := listens.Execute("SELECT 1")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.Notifications...)
	}
	want := []harness.Notification{
		{Sender: notifies.ID(), Channel: "c", Payload: "x"}, {Sender: notifies.ID(), Channel: "c"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	r, err := listens.Execute("NOTIFY c, 'own'")
	if err != nil || len(r.Notifications) != 1 || r.Notifications[0].Sender != listens.ID() {
		t.Errorf("its own: %+v (%v)", r.Notifications, err)
	}
}

// TestSlowGreeting opens sessions whose first message takes so long to be written that the driver reads meanwhile.
func TestSlowGreeting(t *testing.T) {
	db := start(t).(interface{ URL() string })
	config, err := pgconn.ParseConfig(db.URL())
	if err != nil {
		t.Fatal(err)
	}
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		return &slowWriter{Conn: c, read: make(chan struct{})}, err
	}
	for range 5 {
		s, err := pgsession.Open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(5*time.Second, s.Cut)
		if _, err := s.Query("SELECT 1"); err != nil {
			t.Errorf("the first statement: %v", err)
		}
		late.Stop()
		_ = s.Close()
	}
}

// slowWriter is a connection that writes nothing before somebody reads.
type slowWriter struct {
	net.Conn
	once sync.Once
	read chan struct{}
}

func (c *slowWriter) Read(p []byte) (int, error) {
	c.once.Do(func() { close(c.read) })
	return c.Conn.Read(p)
}

func (c *slowWriter) Write(p []byte) (int, error) {
	<-c.read
	return c.Conn.Write(p)
}
