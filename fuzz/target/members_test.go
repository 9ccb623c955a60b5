package target_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const twoRows = `
/* init */ CREATE TABLE t (a INT PRIMARY KEY, b INT);
/* init */ INSERT INTO t VALUES (1, 10), (2, 20);
`

// overtaken is a transaction that another member's has to end; what it is told then stands behind it.
const overtaken = twoRows + `
/* tx1 */ BEGIN;
/* tx1 */ SAVEPOINT s;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ UPDATE t SET b = 12 WHERE a = 1;
`

// acrossMembers are cases with each session on a member of its own; says is in the reason or the error.
var acrossMembers = []struct {
	name, text string
	level      corpus.Level
	want       oracle.Outcome
	says       string
}{
	{"told by an UPDATE", overtaken + "/* tx1 */ UPDATE t SET b = 21 WHERE a = 2;\n/* tx1 */ COMMIT;",
		corpus.RepeatableRead, oracle.OK, ""},
	{"told by a SELECT", overtaken + "/* tx1 */ SELECT * FROM t;\n/* tx1 */ SELECT * FROM t;\n/* tx1 */ COMMIT;",
		corpus.RepeatableRead, oracle.OK, ""},
	{"told by a BEGIN, which would have committed", overtaken + "/* tx1 */ BEGIN;\n/* tx1 */ SELECT * FROM t;",
		corpus.RepeatableRead, oracle.OK, ""},
	{"told by COMMIT", overtaken + "/* tx1 */ COMMIT;\n/* tx2 */ SELECT * FROM t;", corpus.ReadCommitted, oracle.OK, ""},
	{"BEGIN commits", twoRows + `
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET b = 11 WHERE a = 1;
/* tx2 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx1 */ BEGIN;
/* tx2 */ SELECT * FROM t;
/* tx2 */ COMMIT;
/* tx1 */ COMMIT;
`, corpus.ReadCommitted, oracle.OK, ""},
	{"values that each node draws for itself", `
/* init */ CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b INT);
/* tx1 */ INSERT INTO t (b) VALUES (1), (2);
/* tx2 */ INSERT INTO t (b) VALUES (3), (4);
`, corpus.RepeatableRead, oracle.Unknown, "AUTO_INCREMENT"},
	{"no primary key", "/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT * FROM t;",
		corpus.RepeatableRead, oracle.Unknown, "primary key"},
	{"more sessions than members", twoRows + "/* tx4 */ SELECT * FROM t;", corpus.RepeatableRead, oracle.Unknown, "there are 3"},
	{"a KILL", twoRows + "/* tx1 */ BEGIN;\n/* tx2 */ KILL tx1;", corpus.RepeatableRead, oracle.Unknown, "cannot be killed"},
}

// toldBySavepoint is right on a Galera cluster; a group of MySQL has a bug there, which is a stored case.
const toldBySavepoint = overtaken + "/* tx1 */ ROLLBACK TO s;\n/* tx1 */ SELECT * FROM t;\n/* tx1 */ COMMIT;"

// TestMembers judges cases whose sessions are on different members of a cluster.
func TestMembers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"galera:11.8", "mysql:9.7,group=3,primary=multi"} {
		t.Run(name, func(t *testing.T) {
			server, _, _ := strings.Cut(name, ",")
			if !there(t, server) {
				t.Skipf("%s is not installed (scripts/servers)", server)
			}
			on, err := target.Open(t.Context(), name, target.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := on.Close(); err != nil {
					t.Error(err)
				}
			}()
			judge := func(name, text string, level corpus.Level) target.Trial {
				c := targettest.Case(t, text)
				return on.Judge(t.Context(), c, target.LevelsFor(c, level))
			}
			var unheld *harness.UnheldError
			if at, err := on.CanHold(t.Context(), nil); !errors.As(err, &unheld) {
				t.Errorf("a statement can be held: %v, %v", at, err)
			}
			for _, x := range acrossMembers {
				r := judge(x.name, x.text, x.level)
				if h := r.History; h != nil && (h.Cluster == nil || !sessionsApart(h)) {
					t.Errorf("%s: the history says of the cluster %+v", x.name, h.Cluster)
				}
				if r.Verdict.Outcome != x.want || !strings.Contains(r.Verdict.Reason+errorText(r.Err), x.says) {
					t.Errorf("%s: %+v, want %s, %s", x.name, r.Verdict, x.want, x.says)
				}
			}
			if strings.HasPrefix(name, "galera") {
				if r := judge("savepoint", toldBySavepoint, corpus.RepeatableRead); r.Verdict.Outcome != oracle.OK {
					t.Errorf("told by ROLLBACK TO: %+v", r.Verdict)
				}
			}
		})
	}
}

// sessionsApart says that a history names three members, and puts its sessions on different ones.
func sessionsApart(h *history.History) bool {
	c := h.Cluster
	return c.Form != "" && len(c.Members) == 3 && c.Member(1) == c.Members[0] && c.Member(2) == c.Members[1]
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
