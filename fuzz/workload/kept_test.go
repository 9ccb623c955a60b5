package workload

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// overdrawn is a saved finding, with one of several invariants in its header.
const overdrawn = `
/* init */ CREATE TABLE shop (name VARCHAR(9) PRIMARY KEY);
/* init */ CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL, twice INT AS (balance * 2), shop VARCHAR(9), FOREIGN KEY (shop) REFERENCES shop (name));
/* init */ INSERT INTO shop VALUES ('007');
/* init */ INSERT INTO account (id, balance, shop) VALUES (1, 50, '007'), (2, 10, NULL);
/* tx1 */ BEGIN;
/* tx1 */ SELECT balance FROM account WHERE id = 1;
/* tx2 */ BEGIN;
/* tx2 */ UPDATE account SET balance = balance - 32 WHERE id = 1;
/* tx2 */ COMMIT;
/* tx1 */ UPDATE account SET balance = balance - 32 WHERE id = 1;
/* tx1 */ COMMIT;
`

// TestKeeps: an invariant is judged by the state in which that run ended.
func TestKeeps(t *testing.T) {
	for _, target := range installed(t, "mariadb:11.8") {
		pool := open(t, target)
		run := func(ctx context.Context, c *corpus.Case) (*history.History, error) {
			return pool.Run(ctx, c, harness.At(corpus.ReadCommitted))
		}
		for header, want := range map[string]string{
			"no-overdraft: SELECT id, balance FROM account WHERE balance < 0":         `invariant no-overdraft: broken (its SELECT gives ("1", "-14"))`,
			"not-too-far: SELECT id FROM account WHERE balance < -100":                "invariant not-too-far: kept",
			"sum constant: SELECT SUM(balance) FROM account":                          `invariant sum: broken (its SELECT gives ("-4"))`,
			"accounts constant: SELECT COUNT(*) FROM account":                         "invariant accounts: kept",
			"shops one of '006', '007': SELECT name FROM shop":                        "invariant shops: kept",
			"shops one of ':': SELECT name FROM shop":                                 `invariant shops: broken (its SELECT gives ("007"))`,
			"in-a-shop: SELECT balance FROM account, shop WHERE name = shop":          `invariant in-a-shop: broken (its SELECT gives ("-14"))`,
			"twice: SELECT id FROM account WHERE twice <> 2 * balance":                "invariant twice: kept",
			"misspelt: SELECT balanec FROM account":                                   "invariant misspelt: not known (the server refuses its SELECT with error 1054: ",
			"none SELECT 1":                                                           "invariant none SELECT 1: not known (",
			"two: SELECT 1; /* invariant b */ SELECT 1":                               "invariant two: not known (",
			"the balance is never negative: see the page of the project for the rest": "invariant the balance is never negative: not known (",
		} {
			c, err := corpus.Parse("c.sql", []byte("-- invariant: "+header+"\n"+overdrawn))
			if err != nil {
				t.Fatal(err)
			}
			h, err := run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if got := Keeps(t.Context(), c, h, run); got == nil || !strings.HasPrefix(got.String(), want) {
				t.Errorf("%s\n got %v\nwant %s", header, got, want)
			}
		}
	}
}

// TestKeepsNothing: without an invariant there is nothing to tell, and without a run nothing
// is known.
func TestKeepsNothing(t *testing.T) {
	none := func(context.Context, *corpus.Case) (*history.History, error) { return nil, errors.New("gone") }
	c, err := corpus.Parse("c.sql", []byte(overdrawn))
	if err != nil {
		t.Fatal(err)
	}
	if got := Keeps(t.Context(), c, nil, none); got != nil {
		t.Error(got)
	}
	c.Set(keyInvariant, "i: SELECT 1")
	for _, x := range []struct {
		h    *history.History
		want string
	}{
		{nil, "the run did not end"},
		{&history.History{End: history.Lost}, "the run did not end"},
		{&history.History{}, "read the invariant: gone"},
	} {
		if got := Keeps(t.Context(), c, x.h, none); got == nil || got.Broken || got.NotKnown != x.want {
			t.Errorf("%+v, want %s", got, x.want)
		}
	}
}
