package workload

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// withdraw is the bank's, written in Go.
func withdraw(ctx context.Context, tx *sql.Tx, args workload.Args) error {
	var balance int64
	if err := tx.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = ?", args.Int("who")).Scan(&balance); err != nil {
		return err
	}
	if balance < args.Int("amount") {
		return errors.New("not enough money")
	}
	_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance - ? WHERE id = ?", args.Int("amount"), args.Int("who"))
	return err
}

// TestCode finds in Go code what it finds in a file, and nothing where the SELECT locks.
func TestCode(t *testing.T) {
	locking := func(ctx context.Context, tx *sql.Tx, args workload.Args) error {
		var balance int64
		if err := tx.QueryRowContext(ctx, "SELECT balance FROM account WHERE id = ? FOR UPDATE", args.Int("who")).Scan(&balance); err != nil || balance < args.Int("amount") {
			return errors.Join(err, errors.New("not enough money"))
		}
		_, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance - ? WHERE id = ?", args.Int("amount"), args.Int("who"))
		return err
	}
	for _, target := range installed(t, "mariadb:11.8") {
		for _, x := range []struct {
			name  string
			code  workload.Code
			level corpus.Level
			found bool
		}{{"plain", withdraw, corpus.ReadCommitted, true}, {"plain", withdraw, corpus.Serializable, false}, {"locking", locking, corpus.ReadCommitted, false}} {
			t.Run(x.name+" "+x.level.Short(), func(t *testing.T) {
				w, err := workload.ParseSchema("bank.workload", []byte(`/* schema */ CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL);
/* sample account.balance */ 10, 100 weight 3;
/* invariant no-overdraft */ SELECT id FROM account WHERE balance < 0;`))
				if err != nil {
					t.Fatal(err)
				}
				if err := w.AddCode("withdraw", ":who account.id, :amount INT 1..100", x.code); err != nil {
					t.Fatal(err)
				}
				b := backend(t, target)
				r, err := Run(t.Context(), w, b, Settings{Target: target, Levels: []corpus.Level{x.level}, Min: 2, Max: 2, Cases: 60, Duration: time.Minute, Seed: 1, Workers: 1, Out: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				if r.Cases < 50 || r.Verdicts["violation"]+r.Verdicts["unknown"] > 0 {
					t.Errorf("%d cases, verdicts %v", r.Cases, r.Verdicts)
				}
				broken := slices.ContainsFunc(r.Findings, func(f *Finding) bool { return f.Class == Isolation && f.Kind == invariantKind("no-overdraft") })
				if broken != x.found || !x.found && len(r.Findings) > 0 {
					for _, f := range r.Findings {
						t.Log(f.Class, f.Kind, f.Calls, f.Detail)
					}
					t.Errorf("broken: %v, want %v", broken, x.found)
				}
			})
		}
	}
}

// TestInterpolate holds how arguments become SQL.
func TestInterpolate(t *testing.T) {
	got, err := interpolate("SELECT '?', `?`, ?, ?, ?, ? FROM t", []driver.Value{int64(-1), "it's", nil, []byte("x")})
	if want := "SELECT '?', `?`, -1, 'it''s', NULL, 'x' FROM t"; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	for _, q := range []string{"SELECT ?, ?", "SELECT 1"} {
		if _, err := interpolate(q, []driver.Value{int64(1)}); err == nil {
			t.Errorf("%s took one argument", q)
		}
	}
}
