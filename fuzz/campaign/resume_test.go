package campaign

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
)

func stateOf(t *testing.T) (Settings, *campaignState) {
	t.Helper()
	dir := t.TempDir()
	r := &Report{Target: "mariadb:10.11", Counts: newCounts(), Seconds: 60, Findings: []findings.Finding{{ID: "one", Seen: 2}}}
	r.Cases, r.Verdicts[oracle.OK], r.judged, r.judgeable = 100, 100, 9, 10
	st := &campaignState{Target: "mariadb:10.11", Seed: 9, Workers: 3, Next: []int{4, 5, 6}, Report: r, Before: []string{"old"}}
	if err := st.save(dir); err != nil {
		t.Fatal(err)
	}
	return Settings{Target: "mariadb:10.11", Corpus: dir, Resume: true, Out: filepath.Join(dir, "found"), Seed: 1, Workers: 1}, st
}

func TestResumeRunsWhatIsLeft(t *testing.T) {
	s, _ := stateOf(t)
	s.Cases = 250
	r, err := resumed(t.Context(), s, func(_ context.Context, s Settings) (*Report, error) {
		if s.Cases != 150 || s.Seed != 9 || s.Workers != 3 {
			t.Errorf("settings %+v", s)
		}
		more := &Report{Counts: newCounts(), Seconds: 10, Findings: []findings.Finding{{ID: "one", Seen: 1}, {ID: "two", Seen: 1, FirstSeen: 3}}}
		more.Cases, more.judged, more.judgeable = 150, 10, 10
		return more, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cases != 250 || r.Seconds != 70 || r.JudgedShare != 0.95 || len(r.Findings) != 2 {
		t.Errorf("%+v", r)
	}
	if f := r.Findings; f[0].Seen != 3 || f[1].ID != "two" || f[1].FirstSeen != 63 {
		t.Errorf("findings %+v", f)
	}
}

func TestResumeOfWhatIsComplete(t *testing.T) {
	for _, bound := range []func(*Settings){
		func(s *Settings) { s.Cases = 100 }, func(s *Settings) { s.Duration = time.Minute },
	} {
		s, _ := stateOf(t)
		bound(&s)
		r, err := resumed(t.Context(), s, func(context.Context, Settings) (*Report, error) {
			t.Error("it runs on")
			return nil, nil
		})
		if err != nil || r.Cases != 100 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestResumeOnAnotherTarget(t *testing.T) {
	s, _ := stateOf(t)
	s.Target = "mysql:9.7"
	var wrong *ResumeError
	if _, err := resumed(t.Context(), s, nil); !errors.As(err, &wrong) {
		t.Errorf("error %v", err)
	}
}

// A finding that was stored before it was counted is counted by the next part;
// what was stored before the campaign, or by another one, is not.
func TestResumeCountsStoredFindings(t *testing.T) {
	s, st := stateOf(t)
	for id, target := range map[string]string{"one": st.Target, "old": st.Target, "elsewhere": "mysql:9.7", "lost": st.Target} {
		c := targettest.Case(t, targettest.DirtyRead)
		c.Set(findings.KeyTarget, target)
		c.Set("kind", "dirty-read")
		c.Set(findings.KeyFingerprint, "dirty-read/RC")
		c.Set("reproduced", "7/10")
		if _, err := corpus.Save(s.Out, id, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.missed(s.Out, st.Report); err != nil {
		t.Fatal(err)
	}
	f := st.Report.Findings
	if len(f) != 2 || f[1].ID != "lost" || f[1].Kind != "dirty-read" || f[1].Reproduced != 7 || !f[1].New {
		t.Errorf("findings %+v", f)
	}
}

func TestResumeKeepsTheValuesUnique(t *testing.T) {
	s, _ := stateOf(t)
	s.Unique = true
	var wrong *ResumeError
	if _, err := resumed(t.Context(), s, nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), "without --unique-values") {
		t.Errorf("%v", err)
	}
}

func TestResumeKeepsTheProtocol(t *testing.T) {
	for kept, same := range map[string]bool{"": false, "text": false, "execute": false, "mixed": false, "mixed 42": true} {
		s, st := stateOf(t)
		st.Report.Protocol = kept
		if err := st.save(s.Corpus); err != nil {
			t.Fatal(err)
		}
		s.Protocol, s.Cases = protocol.Mixed(42), 1
		_, err := resumed(t.Context(), s, nil)
		var wrong *ResumeError
		if refused := errors.As(err, &wrong); refused == same || refused && !strings.Contains(err.Error(), "not 'mixed 42'") {
			t.Errorf("kept %q: %v", kept, err)
		}
	}
}
