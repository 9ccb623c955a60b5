package workload

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	mutate "github.com/txnfuzz/txnfuzz/mutate/workload"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const account = `/* schema */ CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL);
/* sample account.balance */ 10, 100 weight 3;
/* invariant no-overdraft */ SELECT id FROM account WHERE balance < 0;`

// take is withdraw on a connection, its statements each on their own.
func take(ctx context.Context, conn *sql.Conn, args workload.Args) error {
	var balance int64
	if err := conn.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = ?", args.Int("who")).Scan(&balance); err != nil || balance < args.Int("amount") {
		return err
	}
	_, err := conn.ExecContext(ctx, "UPDATE account SET balance = balance - ? WHERE id = ?", args.Int("amount"), args.Int("who"))
	return err
}

// takeLocked is take in a transaction of its own, tried again after an abort.
func takeLocked(ctx context.Context, conn *sql.Conn, args workload.Args) error {
	try := func() error {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		var balance int64
		if err := tx.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = ? FOR UPDATE", args.Int("who")).Scan(&balance); err != nil || balance < args.Int("amount") {
			return errors.Join(err, tx.Rollback())
		}
		if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance - ? WHERE id = ?", args.Int("amount"), args.Int("who")); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	}
	if err := try(); err != nil {
		return try()
	}
	return nil
}

// TestConn: code with a connection overdraws an account at any level if its statements
// run on their own, and not if a transaction of its own locks.
func TestConn(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		for _, x := range []struct {
			name  string
			code  workload.ConnCode
			level corpus.Level
			found bool
		}{{"on their own", take, corpus.Serializable, true}, {"locked", takeLocked, corpus.ReadCommitted, false}} {
			t.Run(x.name, func(t *testing.T) {
				w, err := workload.ParseSchema("bank.workload", []byte(account))
				if err != nil {
					t.Fatal(err)
				}
				if err := w.AddConn("take", ":who account.id, :amount INT 1..100", x.code); err != nil {
					t.Fatal(err)
				}
				b := backend(t, target)
				r, err := Run(t.Context(), w, b, Settings{Target: target, Levels: []corpus.Level{x.level}, Min: 2, Max: 2, Cases: 60, Duration: time.Minute, Seed: 1, Workers: 1, Out: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				broken := slices.ContainsFunc(r.Findings, func(f *Finding) bool { return f.Kind == invariantKind("no-overdraft") })
				if r.Cases < 50 || broken != x.found || !x.found && len(r.Findings) > 0 {
					t.Errorf("%d cases, %d findings, broken: %v", r.Cases, len(r.Findings), broken)
				}
				for _, f := range r.Findings {
					if f.Class != Isolation || f.Unexplained { // the level is not to blame
						t.Errorf("%+v", f)
					}
				}
			})
		}
	}
}

// TestConnCalls plays code against scripted answers.
func TestConnCalls(t *testing.T) {
	ok, open := &history.Result{}, &history.Result{InTxn: true}
	balance := &history.Result{Columns: []string{"balance"}, Rows: [][]history.Cell{{{Text: "50"}}}, InTxn: true}
	exec := func(list ...string) workload.ConnCode {
		return func(ctx context.Context, conn *sql.Conn, _ workload.Args) error {
			var all error
			for _, s := range list {
				_, err := conn.ExecContext(ctx, s)
				all = errors.Join(all, err)
			}
			return all
		}
	}
	for name, x := range map[string]struct {
		code    workload.ConnCode
		answers []*history.Result
		sent    string
		want    CallOutcome
		fails   string
	}{
		"what is left open is rolled back": {
			exec("BEGIN", "DELETE FROM account"), []*history.Result{open, changed(1), ok},
			"BEGIN; DELETE FROM account; ROLLBACK", CallOutcome{End: RolledBack}, "",
		},
		"a statement on its own": {
			exec("DELETE FROM account"), []*history.Result{{Affected: 1}},
			"DELETE FROM account", CallOutcome{End: Committed, kept: true, apart: true}, "",
		},
		"it tries again itself": {
			takeLocked, []*history.Result{open, balance, failed(1213, false), ok, open, balance, changed(1), ok},
			"BEGIN; SELECT balance FROM account WHERE id = 1 FOR UPDATE; UPDATE account SET balance = balance - 5 WHERE id = 1; ROLLBACK; BEGIN; SELECT balance FROM account WHERE id = 1 FOR UPDATE; UPDATE account SET balance = balance - 5 WHERE id = 1; COMMIT",
			CallOutcome{End: Committed, kept: true}, "",
		},
		"half of it is lost": {
			exec("BEGIN", "DELETE FROM account", "COMMIT", "BEGIN", "DELETE FROM account"), []*history.Result{open, changed(1), ok, open, failed(1213, false)},
			"BEGIN; DELETE FROM account; COMMIT; BEGIN; DELETE FROM account", CallOutcome{End: Aborted, kept: true, apart: true}, "",
		},
		"a level of its own": {
			func(ctx context.Context, conn *sql.Conn, _ workload.Args) error {
				_, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelSerializable})
				return err
			}, nil, "", CallOutcome{End: RolledBack}, "the level is that of the run",
		},
		"no SQL": {exec("DELETE FORM account"), nil, "", CallOutcome{End: RolledBack}, "DELETE FORM account"},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := workload.ParseSchema("bank.workload", []byte(account))
			if err != nil {
				t.Fatal(err)
			}
			if err := w.AddConn("x", ":who account.id, :amount INT 1..100", x.code); err != nil {
				t.Fatal(err)
			}
			p := newCodePlayer(w, &mutate.Call{Transaction: w.Transactions[0], Args: map[string]ast.ExprNode{"who": corpus.IntLit(1), "amount": corpus.IntLit(5)}})
			defer p.close()
			var sent []string
			var last *history.Result
			for {
				var stmt ast.StmtNode
				if stmt, err = p.Next(last); err != nil || stmt == nil {
					break
				}
				sent = append(sent, corpus.SQL(stmt, corpus.Text))
				if len(x.answers) == 0 {
					t.Fatalf("no answer to %v", sent)
				}
				last, x.answers = x.answers[0], x.answers[1:]
			}
			if (err == nil) != (x.fails == "") || err != nil && !strings.Contains(err.Error(), x.fails) {
				t.Errorf("%v, want %q", err, x.fails)
			}
			got := p.outcome()
			if strings.Join(sent, "; ") != x.sent || got.End != x.want.End || got.kept != x.want.kept || got.apart != x.want.apart || len(x.answers) > 0 {
				t.Errorf("sent %s\nwant %s\n%+v", strings.Join(sent, "; "), x.sent, got)
			}
			if name == "it tries again itself" && len(got.answers) != 2 {
				t.Errorf("answers of the try that was lost count: %d", len(got.answers))
			}
		})
	}
}
