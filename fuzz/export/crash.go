package export

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle"
)

func (s *script) crashed() bool { return s.Verdict.Kind == oracle.ServerCrash }

const dies = "the server dies"

// fate is what becomes of the server: a panic may end one session only.
func (s *script) fate() string {
	if strings.HasPrefix(s.Verdict.Reason, "the server ended the session") {
		return "the server ends the session on an internal error"
	}
	return dies
}

// innermost begins the list of functions at the end of a crash's reason.
const innermost = "; innermost first: "

// stack lists the functions in which a server that died broke down, innermost first, each with its
// file and line; nil where it did not tell.
func (s *script) stack() []string {
	_, frames, ok := strings.Cut(s.Verdict.Reason, innermost)
	if !s.crashed() || !ok {
		return nil
	}
	return strings.Split(frames, ", ")
}

// lastWords is what the server wrote when it died, without the function, which stack has.
func (s *script) lastWords() string {
	words := s.Verdict.Actual
	if len(s.stack()) > 0 {
		words, _, _ = strings.Cut(words, ", in ")
	}
	return words
}

// lastSent is the place of the statement that was sent last: the server died there or behind it.
func (s *script) lastSent(code func(string) string) string {
	for i := len(s.actions) - 1; i >= 0; i-- {
		if a := &s.actions[i]; !a.unsent {
			return fmt.Sprintf("tx%d, step %d: %s", a.Session, a.Step, code(a.sql))
		}
	}
	return "Before the first step"
}

// answersFirst warns a reader whose last statement succeeds: that may be told before the server is gone.
func (s *script) answersFirst() []string {
	if s.fate() != dies {
		return nil
	}
	return []string{"-- The server may answer before it dies. One more statement, in any session, finds it gone."}
}

// unanswered is what comes back of a statement that the server did not live to answer.
func (s *script) unanswered() string { return "no answer, since " + s.fate() }

// whyBesideStack is what explains the wrong in a form that shows the stack by itself.
func (s *script) whyBesideStack() []string {
	return slices.DeleteFunc(s.why(), func(w string) bool { return s.crashed() && strings.Contains(w, innermost) })
}

// crashText is the block of a report in which the server has its say: its message, and where it
// broke down. It is empty for what is no crash.
func (s *script) crashText() string {
	frames := s.stack()
	if len(frames) == 0 {
		return ""
	}
	return fencedText(s.lastWords() + "\n\n" + strings.Join(frames, "\n"))
}
