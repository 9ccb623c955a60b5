package notify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// told makes a history of PostgreSQL 18 of lines
//
//	submit-return answer [notification…] /* tx1 */ statement
//
// in which an answer is ok, open (ok, inside of a transaction) or the SQLSTATE of an error, and a notification is
// channel=payload of the session that sent it, as in c=x:2. A last line `end: …` has what sessions get behind the last
// statement, as in 1<c=x:2.
func told(t *testing.T, text, version string) (*corpus.Case, *history.History) {
	t.Helper()
	var sql strings.Builder
	h := &history.History{Server: history.Server{Version: version}}
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "end:"); ok {
			for _, f := range strings.Fields(rest) {
				var session int
				to, what, _ := strings.Cut(f, "<")
				if _, err := fmt.Sscan(to, &session); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				h.Notifications = append(h.Notifications, notification(t, session, -1, what))
			}
			continue
		}
		head, rest, _ := strings.Cut(line, "/*")
		fmt.Fprintf(&sql, "/*%s;\n", rest)
		f := strings.Fields(head)
		st := history.Stmt{Line: i, Result: history.Result{Matched: -1, Changed: -1, Affected: -1}}
		if _, err := fmt.Sscanf(f[0], "%d-%d", &st.Submit, &st.Return); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, err := fmt.Sscanf(rest, " tx%d */", &st.Session); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		switch f[1] {
		case "ok":
		case "open":
			st.Result.InTxn = true
		default:
			st.Result.Err = &history.Error{Code: history.NumberOf(f[1]), State: f[1]}
		}
		for _, what := range f[2:] {
			h.Notifications = append(h.Notifications, notification(t, st.Session, i, what))
		}
		h.Stmts = append(h.Stmts, st)
	}
	c, err := corpus.Parse("case", []byte(sql.String()))
	if err != nil {
		t.Fatal(err)
	}
	return c, h
}

func notification(t *testing.T, session, at int, what string) history.Notification {
	t.Helper()
	n := history.Notification{Session: session, Stmt: at}
	what, from, _ := strings.Cut(what, ":")
	n.Channel, n.Payload, _ = strings.Cut(what, "=")
	if _, err := fmt.Sscan(from, &n.Sender); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return n
}

func TestCheck(t *testing.T) {
	for name, x := range map[string]struct{ history, want string }{
		"with the next answer": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx2 */ NOTIFY c, 'x'
			5-6 ok c=x:2 /* tx1 */ UNLISTEN c`, ""},
		"behind the last statement": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx2 */ SELECT pg_notify('c', 'x')
			end: 1<c=x:2`, ""},
		"lost": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx2 */ NOTIFY c, 'x'`, "1 lost-notification"},
		"lost to oneself": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx1 */ NOTIFY c`, "1 lost-notification"},
		"it is not lost if nobody had to hear it yet": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx2 */ NOTIFY c, 'x'
			5-6 ok /* tx1 */ UNLISTEN *`, ""},
		"it is lost if the session had an answer between": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx2 */ NOTIFY c, 'x'
			5-6 ok /* tx1 */ LISTEN d
			7-8 ok /* tx1 */ UNLISTEN c`, "1 lost-notification"},
		"an answer within a transaction brings none": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx1 */ BEGIN
			5-6 ok /* tx2 */ NOTIFY c, 'x'
			7-8 open /* tx1 */ UNLISTEN c
			9-10 ok /* tx1 */ COMMIT`, ""},
		"a KILL QUERY of its own session is an error": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx1 */ BEGIN
			5-6 open /* tx1 */ NOTIFY c, 'y'
			7-8 57014 /* tx1 */ KILL QUERY tx1
			9-10 ok /* tx1 */ COMMIT`, ""},
		"a LISTEN that is rolled back is none": {`
			1-2 open /* tx1 */ BEGIN
			3-4 open /* tx1 */ LISTEN c
			5-6 ok /* tx1 */ ROLLBACK
			7-8 ok /* tx2 */ NOTIFY c, 'x'
			end: 1<c=x:2`, "2 phantom-notification"},
		"an UNLISTEN that is rolled back is none": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx1 */ BEGIN
			5-6 open /* tx1 */ UNLISTEN *
			7-8 ok /* tx1 */ ROLLBACK
			9-10 ok /* tx2 */ NOTIFY c, 'x'`, "4 lost-notification"},
		"the LISTEN's COMMIT overlaps": {`
			1-2 open /* tx1 */ BEGIN
			3-4 open /* tx1 */ LISTEN c
			5-8 ok c=x:2 /* tx1 */ COMMIT
			6-7 ok /* tx2 */ NOTIFY c, 'x'`, ""},
		"committed before the LISTEN": {`
			1-2 open /* tx1 */ BEGIN
			3-4 open /* tx1 */ LISTEN c
			5-6 ok /* tx2 */ NOTIFY c, 'x'
			7-8 ok c=x:2 /* tx1 */ COMMIT`, "3 phantom-notification"},
		"committed before the LISTEN of who listens for something else": {`
			1-2 ok /* tx1 */ LISTEN d
			3-4 open /* tx1 */ BEGIN
			5-6 open /* tx1 */ LISTEN c
			7-8 ok /* tx2 */ NOTIFY c, 'x'
			9-10 ok c=x:2 /* tx1 */ COMMIT`, ""},
		"of a transaction that is rolled back": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx2 */ BEGIN
			5-6 open /* tx2 */ NOTIFY c, 'x'
			7-8 ok /* tx2 */ ROLLBACK
			end: 1<c=x:2`, "0 phantom-notification"},
		"of a transaction that has failed": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx2 */ BEGIN
			5-6 open /* tx2 */ NOTIFY c, 'x'
			7-8 22012 /* tx2 */ SELECT 1
			9-10 ok /* tx2 */ COMMIT
			11-12 ok c=x:2 /* tx1 */ LISTEN c`, "5 phantom-notification"},
		"of a transaction that fails to commit": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx2 */ BEGIN
			5-6 open /* tx2 */ NOTIFY c, 'x'
			7-8 40001 /* tx2 */ COMMIT`, ""},
		"before the COMMIT": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx2 */ BEGIN
			5-6 open /* tx2 */ NOTIFY c, 'x'
			7-8 ok c=x:2 /* tx1 */ LISTEN c
			9-10 ok /* tx2 */ COMMIT`, "3 phantom-notification"},
		"within a transaction": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx1 */ BEGIN
			5-6 ok /* tx2 */ NOTIFY c, 'x'
			7-8 open c=x:2 /* tx1 */ NOTIFY d
			9-10 ok /* tx1 */ COMMIT`, "3 early-notification"},
		"with BEGIN, for it came before": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx2 */ NOTIFY c, 'x'
			5-6 open c=x:2 /* tx1 */ BEGIN`, ""},
		"a savepoint takes back what is behind it": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx2 */ BEGIN
			5-6 open /* tx2 */ NOTIFY c, 'x'
			7-8 open /* tx2 */ SAVEPOINT s
			9-10 open /* tx2 */ NOTIFY c, 'y'
			11-12 open /* tx2 */ ROLLBACK TO s
			13-14 ok /* tx2 */ COMMIT
			end: 1<c=x:2 1<c=y:2`, "0 phantom-notification"},
		"a savepoint that is released takes back nothing": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx2 */ BEGIN
			5-6 open /* tx2 */ SAVEPOINT s
			7-8 open /* tx2 */ NOTIFY c, 'y'
			9-10 open /* tx2 */ RELEASE SAVEPOINT s
			11-12 ok /* tx2 */ COMMIT`, "5 lost-notification"},
		"the same twice is once": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx2 */ BEGIN
			5-6 open /* tx2 */ NOTIFY c, 'x'
			7-8 open /* tx2 */ NOTIFY c, 'x'
			9-10 ok /* tx2 */ COMMIT
			end: 1<c=x:2 1<c=x:2`, "0 phantom-notification"},
		"the same of two transactions is twice": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx2 */ NOTIFY c, 'x'
			5-6 ok /* tx2 */ NOTIFY c, 'x'
			end: 1<c=x:2`, "1 lost-notification"},
		"order within a transaction": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 open /* tx2 */ BEGIN
			5-6 open /* tx2 */ NOTIFY c, 'x'
			7-8 open /* tx2 */ NOTIFY c, 'y'
			9-10 ok /* tx2 */ COMMIT
			end: 1<c=y:2 1<c=x:2`, "0 misordered-notification"},
		"order of transactions": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx2 */ NOTIFY c, 'x'
			5-6 ok /* tx3 */ NOTIFY c, 'y'
			end: 1<c=y:3 1<c=x:2`, "0 misordered-notification"},
		"order of transactions that overlap": {`
			1-2 ok /* tx1 */ LISTEN c
			3-6 ok /* tx2 */ NOTIFY c, 'x'
			4-5 ok /* tx3 */ NOTIFY c, 'y'
			end: 1<c=y:3 1<c=x:2`, ""},
		"order at two sessions": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx4 */ LISTEN c
			5-8 ok /* tx2 */ NOTIFY c, 'x'
			6-7 ok /* tx3 */ NOTIFY c, 'y'
			end: 1<c=y:3 1<c=x:2 4<c=x:2 4<c=y:3`, "1 misordered-notification"},
		"who is told by the wrong session": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx2 */ NOTIFY c, 'x'
			end: 1<c=x:3`, "1 lost-notification"},
		"a session that ends": {`
			1-2 ok /* tx1 */ LISTEN c
			3-4 ok /* tx2 */ NOTIFY c, 'x'
			5-6 ok /* tx1 */ disconnect
			7-8 ok /* tx1 */ connect
			9-10 ok /* tx2 */ NOTIFY c, 'y'
			11-12 ok /* tx1 */ LISTEN c
			13-14 ok /* tx2 */ NOTIFY c, 'z'
			end: 1<c=y:2 1<c=z:2`, ""},
		"a COMMIT that is killed": {`
			1-2 ok /* tx1 */ LISTEN c
			3-6 57014 /* tx2 */ NOTIFY c, 'x'
			4-5 ok /* tx1 */ KILL QUERY tx2
			end: 1<c=x:2`, ""},
		"a transaction that listens is not prepared": {`
			1-2 open /* tx1 */ BEGIN
			3-4 open /* tx1 */ LISTEN c
			5-6 ok /* tx1 */ PREPARE TRANSACTION 'p'`, "2 missing-error"},
		"behind COMMIT AND CHAIN a session listens, and is in the next transaction": {`
			1-2 open /* tx1 */ BEGIN
			3-4 open /* tx1 */ LISTEN c
			5-6 open /* tx1 */ COMMIT AND CHAIN
			7-8 ok /* tx2 */ NOTIFY c, 'x'
			9-10 open /* tx1 */ SELECT 1
			11-12 ok c=x:2 /* tx1 */ COMMIT`, ""},
		"which brings none": {`
			1-2 open /* tx1 */ BEGIN
			3-4 open /* tx1 */ LISTEN c
			5-6 open /* tx1 */ COMMIT AND CHAIN
			7-8 ok /* tx2 */ NOTIFY c, 'x'
			9-10 open c=x:2 /* tx1 */ SELECT 1
			11-12 ok /* tx1 */ COMMIT`, "4 early-notification"},
		"what ROLLBACK AND CHAIN takes back is not heard": {`
			1-2 open /* tx1 */ BEGIN
			3-4 open /* tx1 */ LISTEN c
			5-6 open /* tx1 */ ROLLBACK AND CHAIN
			7-8 ok /* tx2 */ NOTIFY c, 'x'
			9-10 ok c=x:2 /* tx1 */ COMMIT`, "4 phantom-notification"},
		"what is committed AND CHAIN is sent": {`
			1-2 ok /* tx2 */ LISTEN c
			3-4 open /* tx1 */ BEGIN
			5-6 open /* tx1 */ NOTIFY c, 'x'
			7-8 open /* tx1 */ COMMIT AND CHAIN
			9-10 open /* tx1 */ NOTIFY c, 'y'
			11-12 ok /* tx1 */ ROLLBACK`, "3 lost-notification"},
	} {
		c, h := told(t, x.history, "18.1")
		got := ""
		if d := Check(c, h); d != nil {
			got = fmt.Sprint(d.Stmt, " ", d.Kind)
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

// TestRepeatedBehindSavepoint: before version 13 a notification that is repeated behind a savepoint may come twice.
func TestRepeatedBehindSavepoint(t *testing.T) {
	const repeated = `
		1-2 ok /* tx1 */ LISTEN c
		3-4 open /* tx2 */ BEGIN
		5-6 open /* tx2 */ NOTIFY c, 'x'
		7-8 open /* tx2 */ SAVEPOINT s
		9-10 open /* tx2 */ NOTIFY c, 'x'
		11-12 ok /* tx2 */ COMMIT
		end: 1<c=x:2`
	for version, kinds := range map[string][2]string{"12.22": {"", ""}, "13.1": {"", phantom}} {
		for n, text := range []string{repeated, repeated + " 1<c=x:2"} {
			got := ""
			if d := Check(told(t, text, version)); d != nil {
				got = d.Kind
			}
			if got != kinds[n] {
				t.Errorf("%s, %d times: %q, want %q", version, n+1, got, kinds[n])
			}
		}
	}
}
