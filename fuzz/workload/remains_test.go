package workload

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/workload"
)

// At READ COMMITTED FOR UPDATE locks the rows that there are, so it does not keep two
// transactions from putting in what neither of them found.
const booked = `/* schema */ CREATE TABLE booking (id INT PRIMARY KEY AUTO_INCREMENT, seat INT NOT NULL);
/* transaction book (:seat one of (1, 2)) */
SELECT COUNT(*) FROM booking WHERE seat = :seat INTO :n;
/* unless :n = 0: rollback */
INSERT INTO booking (seat) VALUES (:seat);
/* invariant booked-once */ SELECT seat FROM booking GROUP BY seat HAVING COUNT(*) > 1;`

// TestWhatRemainsIsShown: where no FOR UPDATE helps, the report shows a run with all of
// them in it, and that run is saved, too.
func TestWhatRemainsIsShown(t *testing.T) {
	w, err := workload.Parse("booked.workload", []byte(booked))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range installed(t, "mariadb:11.8") {
		b := backend(t, target)
		r, err := Run(t.Context(), w, b, Settings{
			Target: target, Levels: []corpus.Level{corpus.ReadCommitted}, Min: 2, Max: 2, Cases: 100, Explain: 2 * time.Minute, Seed: 1, Workers: 1, Tries: 10, Out: t.TempDir(),
		})
		if err != nil {
			t.Fatal(err)
		}
		var text, page bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteHTML(&page); err != nil {
			t.Fatal(err)
		}
		t.Log(text.String())
		i := slices.IndexFunc(r.Findings, func(f *Finding) bool { return f.Kind == invariantKind("booked-once") })
		if i < 0 || r.Findings[i].Remains == nil {
			t.Fatalf("nothing remains: %+v", r.Findings)
		}
		f := r.Findings[i].Remains
		if strings.Count(f.Schedule, "FOR UPDATE") != 2 || f.Reproduced < f.Reruns || f.Reruns == 0 {
			t.Errorf("%d of %d runs\n%s", f.Reproduced, f.Reruns, f.Schedule)
		}
		if saved, err := os.ReadFile(f.File); err != nil || strings.Count(string(saved), "FOR UPDATE") != 2 {
			t.Errorf("%v\n%s", err, saved)
		}
		for _, out := range []string{text.String(), page.String()} {
			if !strings.Contains(out, "hat remains then") || strings.Count(out, "FOR UPDATE  -- ") < 2 {
				t.Errorf("it is not told:\n%s", out)
			}
		}
	}
}
