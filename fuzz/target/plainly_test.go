package target

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/mutate"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// TestPlainly holds all that package plainsql computes of generated cases against PostgreSQL, and then has the same
// cases judged without asking for it.
func TestPlainly(t *testing.T) {
	const cases = 1200
	on, err := Open(t.Context(), "postgres:18", Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	var asked int64
	for n := range cases {
		o := mutate.Options{Levels: on.Levels(), DBMS: on.server.DBMS}
		in := mutate.InputOf(uint64(16*7000+n), mutate.InputLen)
		for _, c := range mutate.FromInput(in, nil, o) {
			levels := LevelsFor(c, 0)
			for s, l := range levels {
				if l == 0 {
					levels[s] = on.Levels()[n%len(on.Levels())]
				}
			}
			r := on.Run(t.Context(), c, levels)
			if r.History == nil {
				continue
			}
			own, h := r, *r.History
			own.History = &h
			on.plain.always = true
			on.Decide(t.Context(), &r)
			asked += int64(len(r.History.Answers) + len(r.History.Solos))
			on.plain.always = false
			on.Decide(t.Context(), &own)
			if r.Err != nil || own.Err != nil {
				t.Fatalf("input %d: %v, %v", n, r.Err, own.Err)
			}
			if v, w := &r.Verdict, &own.Verdict; v.Outcome != w.Outcome || v.Outcome == oracle.Unknown && v.Reason != w.Reason {
				t.Errorf("input %d: %+v with the server's answers, %+v without", n, r.Verdict, own.Verdict)
			}
		}
	}
	compared, taken := on.plain.compared.Load(), on.plain.taken.Load()
	t.Logf("%d answers were compared, of %d; %d were taken", compared, asked, taken)
	if compared < asked/2 || taken < asked/3 {
		t.Errorf("of %d answers %d were compared, and %d taken: fewer than the generator makes plain", asked, compared, taken)
	}
}
