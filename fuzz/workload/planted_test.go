package workload

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
	"github.com/txnfuzz/txnfuzz/harness/lying"
)

// TestPlanted plants bugs in applications and lies in a server, and asks who is blamed.
func TestPlanted(t *testing.T) {
	cut := func(what string) func(string) string {
		return func(text string) string {
			if !strings.Contains(text, what) {
				t.Fatalf("nothing to cut: %s", what)
			}
			return strings.Replace(text, what, "", 1)
		}
	}
	for _, x := range []struct {
		example, lie string
		edit         func(string) string
		level        corpus.Level
		class        Class
		kind         Kind // any, if empty
	}{
		{example: "bank", edit: cut("/* unless :x >= :amount: rollback */"), level: corpus.Serializable, class: Application, kind: invariantKind("no-overdraft")},
		{example: "courseware", edit: cut("/* unless :is_open = 1: rollback */"), level: corpus.Serializable, class: Application, kind: invariantKind("nobody-in-a-closed-course")},
		{example: "flashsale", edit: cut("INSERT INTO sold (product, customer) VALUES (:product, :customer);"), level: corpus.Serializable, class: Application, kind: invariantKind("none-oversold")},
		{example: "bank", lie: "commit-is-lost", level: corpus.Serializable, class: Server},
		{example: "bank", lie: "locking-read-takes-no-lock", level: corpus.ReadCommitted, class: Server},
		{example: "courseware", lie: "serializable-served-as-repeatable-read", level: corpus.Serializable, class: Server},
		{example: "flashsale", lie: "writes-committed-at-once", level: corpus.ReadCommitted, class: Server},
	} {
		t.Run(x.example+" "+x.lie, func(t *testing.T) {
			for _, target := range installed(t, "mariadb:11.8") {
				text := string(workload.Print(load(t, x.example)))
				if x.edit != nil {
					text = x.edit(text)
				}
				w, err := workload.Parse(x.example+".workload", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				b := backend(t, target)
				if i := slices.IndexFunc(lying.Lies, func(l lying.Lie) bool { return l.Name == x.lie }); i >= 0 {
					b = lying.Through(b, lying.Lies[i])
				} else if x.lie != "" {
					t.Fatal("no such lie")
				}
				r, err := Run(t.Context(), w, b, Settings{
					Target: target, Levels: []corpus.Level{x.level}, Min: 2, Max: 2, Cases: 400, Duration: time.Minute, Seed: 1, Workers: 1, Out: t.TempDir(),
				})
				if err != nil {
					t.Fatal(err)
				}
				told := false
				for _, f := range r.Findings {
					t.Log(f.Class, f.Kind, f.Level, f.Calls, f.Detail)
					told = told || f.Class == x.class && (x.kind == "" || f.Kind == x.kind)
					switch {
					case f.Class == Isolation && x.level != corpus.Serializable: // as the level allows
					case f.Class != x.class:
						t.Errorf("%s is blamed on an %s", f.Kind, f.Class)
					}
				}
				if !told {
					t.Errorf("no %s among %d findings in %d cases", x.class, len(r.Findings), r.Cases)
				}
			}
		})
	}
}
