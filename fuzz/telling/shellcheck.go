package telling

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/judging"
)

// setLevels reads RC, or tx1=RC, tx2=RR.
func (s *shell) setLevels(text string) {
	probe := &corpus.Case{Header: []corpus.Field{{Key: "level", Value: text}}}
	if err := s.checkLevels(probe, text); err != nil {
		s.refuse("%v", err)
		return
	}
	levels := harness.Levels{Default: s.levels.Default, By: map[int]corpus.Level{}}
	for n := 1; n <= harness.MaxLive; n++ {
		if l, ok := probe.LevelOf(n); ok {
			levels.By[n] = l
		}
	}
	if err := s.live.SetLevels(levels); err != nil {
		s.refuse("%v", err)
		return
	}
	s.levels = levels
	s.printf("ok\n")
}

func (s *shell) checkLevels(probe *corpus.Case, text string) error {
	if _, err := corpus.ParseLevel(text); err != nil && !strings.Contains(text, "=") {
		return err
	}
	have := s.t.Levels()
	found := false
	for n := 1; n <= harness.MaxLive; n++ {
		l, ok := probe.LevelOf(n)
		if !ok {
			continue
		}
		found = true
		if _, missing := s.t.Missing(map[int]corpus.Level{n: l}); missing {
			return &target.LevelError{Target: s.t.Name, Level: l, Have: have}
		}
	}
	if !found {
		return fmt.Errorf("level %s: want a level, or tx1=RC, tx2=RR", text)
	}
	return nil
}

// check judges the history so far.
func (s *shell) check(ctx context.Context) {
	h, err := s.live.History()
	if errors.Is(err, harness.ErrOutstanding) {
		s.refuse("%v: end the transaction that blocks %s first", err, sessionList(s.live.Outstanding()))
		return
	}
	if err != nil {
		s.refuse("%v", err)
		return
	}
	v, err := s.t.JudgeLive(ctx, s.live.Case(), h)
	if err != nil {
		s.refuse("%v", err)
		return
	}
	s.result.Violation = v.Outcome == oracle.Violation
	s.printf("verdict: %s\n", findings.VerdictText(&v))
	if v.Outcome == oracle.OK {
		return
	}
	if v.Outcome == oracle.Unknown {
		s.printf("  because:  %s\n", unknownText(&v))
		return
	}
	if v.Stmt >= 0 {
		s.printf("  at:       %s\n", judging.StatementText(s.live.Case(), h, v.Stmt))
	}
	if v.Expected != "" || v.Actual != "" {
		s.printf("  expected: %s\n  actual:   %s\n", v.Expected, v.Actual)
	}
	s.printf("  because:  %s\n", v.Reason)
}

// written is the case so far as a file holds it.
func (s *shell) written() *corpus.Case {
	c := s.live.Case().Clone()
	c.Set(findings.KeySource, "txnfuzz shell")
	c.Set(findings.KeyTarget, s.t.Name)
	c.Set(findings.KeyVersion, s.t.Server().Version)
	c.SetLevels(s.live.Levels())
	if h, err := s.live.History(); err == nil {
		annotate(c, h)
	}
	return c
}

// longestNote bounds the comment behind a statement.
const longestNote = 120

// annotate writes what was seen behind the statements.
func annotate(c *corpus.Case, h *history.History) {
	for i := range h.Stmts {
		st := &h.Stmts[i]
		l := &c.Steps[st.Line]
		note := described(l.Stmt, &st.Result)
		if note == "ok" {
			note = ""
		}
		if len(st.Waits) > 0 {
			note = strings.TrimSuffix("blocked; "+note, "; ")
		}
		if runes := []rune(note); len(runes) > longestNote {
			note = string(runes[:longestNote]) + "…"
		}
		l.Note = note
	}
}

// save writes the case, but over no other file.
func (s *shell) save(path string) {
	if path == "" {
		s.refuse("save where? save FILE")
		return
	}
	if filepath.Ext(path) != corpus.Ext {
		path += corpus.Ext
	}
	if len(s.live.Case().Steps) == 0 {
		s.refuse("no session has done anything")
		return
	}
	if _, err := os.Lstat(path); err == nil {
		s.refuse("%s exists", path)
		return
	}
	path, err := corpus.Save(filepath.Dir(path), filepath.Base(path), s.written())
	if err != nil {
		s.refuse("%v", err)
		return
	}
	s.printf("saved %s\n", path)
}

// unknownText is why a case has no verdict, in words.
func unknownText(v *oracle.Verdict) string {
	switch {
	case v.Actual == "":
		return v.Reason
	case v.Reason == target.ReasonStale:
		return "a statement does not fit the tables: " + v.Actual
	}
	return v.Actual
}
