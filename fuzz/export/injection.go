package export

import (
	"bytes"
	"errors"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// injection holds one statement of a specification at an injection point of PostgreSQL, which is what its developers
// test such a schedule with: https://www.postgresql.org/docs/current/xfunc-c.html#XFUNC-ADDIN-INJECTION-POINTS
//
// The point is armed right before the statement is sent, and disarmed while that waits, so that nothing else waits
// there. Where nothing is held it is nil, and its methods write what a specification has without.
type injection struct {
	step    int // of the held statement, as the export counts
	at      *corpus.Hold
	within  int  // the session that arms the point for itself alone; 0: another one does for all
	resumed bool // the held statement has been let go on
}

// armsItself says that a statement is not the first of its transaction, so that its session can arm the point without
// taking a snapshot for that. Another session would come to a point in COMMIT itself, by the statement that arms it.
func armsItself(c *corpus.Case, held int) bool {
	inside := false
	for i := range c.Steps[:held] {
		if c.Steps[i].Session != c.Steps[held].Session {
			continue
		}
		switch stmt.KindOf(c.Steps[i].Stmt) {
		case stmt.Begin, stmt.Commit, stmt.Rollback:
			inside = false
		case stmt.BeginSnapshot:
			inside = true
		default:
			inside = inside || began(c, i)
		}
	}
	return inside
}

// began says that the statement before this one of its session begins a transaction.
func began(c *corpus.Case, step int) bool {
	for i := step - 1; i >= 0; i-- {
		if c.Steps[i].Session == c.Steps[step].Session {
			return stmt.KindOf(c.Steps[i].Stmt) == stmt.Begin
		}
	}
	return false
}

// pointName is how the point is called in the server's source and in the specification.
const pointName = "txnfuzz-hold"

var (
	errNotHeld    = errors.New("no statement of the case was held inside of the server: want --format isolationtester")
	errNoPoint    = errors.New("only PostgreSQL has injection points: want --format gdb")
	errNoFunction = errors.New("the program that it was found in has no symbols, so that no function of the source is " +
		"known: want --format gdb, or search with a build that has some")
)

// atInjectionPoint writes a specification whose held statement waits at an injection point.
func atInjectionPoint(s *script) (Files, error) {
	step, at := s.held()
	switch {
	case step == 0:
		return Files{}, errNotHeld
	case at.Request != "":
		return Files{}, errHeldRequest
	case s.History.Server.DBMS != history.PostgreSQL:
		return Files{}, errNoPoint
	case strings.HasPrefix(at.Function, "fn_"):
		return Files{}, errNoFunction
	}
	i := &injection{step: step, at: at}
	if armsItself(s.Case, step-1) {
		i.within = s.Case.Steps[step-1].Session
	}
	return s.specification(i)
}

// about tells what has to be put where.
func (i *injection) about(b *bytes.Buffer) {
	if i == nil {
		return
	}
	comment(b, "#", "One statement is held inside of the server, at %s. That takes PostgreSQL 17 or later,\n"+
		"configured with --enable-injection-points. Put this line %s and add\n"+
		"#include \"utils/injection_point.h\" to its file:\n"+
		"    INJECTION_POINT(\"%s\", NULL);    in 17 without the NULL\n"+
		"Install src/test/modules/injection_points, too, start the server with\n"+
		"shared_preload_libraries=injection_points, and in src/test/isolation run\n"+
		"    ./isolationtester dbname=postgres < this file", i.at.Where(), i.place(), pointName)
}

// place is where in the source the point belongs.
func (i *injection) place() string {
	if i.at.Offset == 0 {
		return "at the beginning of " + i.at.Function + "()"
	}
	return "into " + i.at.Function + "(), before the line that\n  gdb -batch -ex 'info line *(&" + i.at.Where() +
		")' postgres\ntells (of the build that is named above, with its debug symbols)"
}

func (i *injection) setup() string {
	if i == nil {
		return ""
	}
	return "setup\t{ CREATE EXTENSION injection_points; }\n"
}

func (i *injection) drops() []string {
	if i == nil {
		return nil
	}
	return []string{"DROP EXTENSION injection_points"}
}

const arm = "step arm\t{ SELECT injection_points_attach('" + pointName + "', 'wait'); }\n"

// local is what a session is set up with in addition that arms the point for itself; "" for the others.
func (i *injection) local(session int) string {
	if i == nil || i.within != session {
		return ""
	}
	return "; SELECT injection_points_set_local()"
}

// session lets go on who waits at the point, and arms it if no other one does.
func (i *injection) session() string {
	if i == nil {
		return ""
	}
	out := "\nsession point\n"
	if i.within == 0 {
		out += arm
	}
	return out + "step wakeup\t{ SELECT injection_points_wakeup('" + pointName + "'); }\n" +
		"step disarm\t{ SELECT injection_points_detach('" + pointName + "'); }\n"
}

// around returns the steps of an action: the held statement passes the point so often before it waits there for good.
func (i *injection) around(a *action) string {
	switch {
	case i != nil && a.Step == i.step && a.Resumed:
		return i.behind()
	case a.Resumed:
		return ""
	case i != nil && a.Step == i.step:
		return " arm " + stepName(a) + strings.Repeat(" wakeup", i.at.Hit-1) + " disarm"
	}
	return " " + stepName(a)
}

// behind lets the held statement go on, if nothing has.
func (i *injection) behind() string {
	if i == nil || i.resumed {
		return ""
	}
	i.resumed = true
	return " wakeup"
}
