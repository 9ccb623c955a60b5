package foreign

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// controls begin the statements that are about transactions.
var controls = map[string]bool{
	"begin": true, "start": true, "commit": true, "end": true, "rollback": true, "abort": true, "savepoint": true,
	"release": true, "set": true, "prepare": true,
}

func control(s statement) bool { return s[0].kind == word && controls[s[0].low] }

func begins(s statement) bool { return s.is(0, "begin") || s.is(0, "start") }

// modes is what may stand behind BEGIN and SET TRANSACTION.
type modes struct {
	level               corpus.Level
	readOnly, readWrite bool
}

// begins returns what begins a transaction with these modes.
func (m modes) begins() string {
	switch {
	case m.readOnly:
		return "START TRANSACTION READ ONLY"
	case m.readWrite:
		return "START TRANSACTION READ WRITE"
	}
	return "BEGIN"
}

func modesOf(s statement, at int) (m modes, ok bool) {
	for at < len(s) {
		switch {
		case s.is(at, ","):
			at++
		case s.is(at, "isolation", "level") && at+2 < len(s):
			words := s[at+2].low
			at += 3
			if at < len(s) && (words == "read" || words == "repeatable") {
				words += " " + s[at].low
				at++
			}
			l, err := corpus.ParseLevel(words)
			if err != nil {
				return m, false
			}
			m.level = l
		case s.is(at, "read", "only"):
			m.readOnly, m.readWrite = true, false
			at += 2
		case s.is(at, "read", "write"):
			m.readOnly, m.readWrite = false, true
			at += 2
		case s.is(at, "not", "deferrable"):
			at += 2
		default:
			return m, false
		}
	}
	return m, true
}

// noise are the words behind BEGIN and COMMIT that mean nothing.
func noise(s statement, at int) int {
	if s.is(at, "work") || s.is(at, "transaction") {
		at++
	}
	return at
}

// control adds a statement about transactions; done is false if it is none.
func (b *builder) control(se *session, k *Block, s statement) (done bool, no *Refusal) {
	if !control(s) {
		return false, nil
	}
	behind := noise(s, 1)
	switch first := s[0].low; first {
	case "begin", "start":
		m, ok := modesOf(s, behind)
		switch {
		case !ok || first == "start" && !s.is(1, "transaction"):
			return true, refuse(s, "a mode of transactions that a case cannot name")
		case se.begin >= 0:
			return true, refuse(s, "BEGIN in a transaction")
		}
		return true, b.begin(se, k, m.begins(), m.level)
	case "commit", "end", "rollback", "abort":
		return true, b.ends(se, k, s, behind)
	case "savepoint", "release":
		at := 1
		if first == "release" && s.is(at, "savepoint") {
			at++
		}
		if len(s) != at+1 || !s[at].names() {
			break
		}
		if first == "release" {
			first += " savepoint"
		}
		return true, b.simple(k, strings.ToUpper(first)+" "+backquoted(s[at]), false, 0)
	case "set":
		return true, b.set(se, s)
	case "prepare":
		if s.is(1, "transaction") && len(s) == 3 {
			return true, b.end(se, k, "PREPARE TRANSACTION "+s[2].sql)
		}
	}
	return true, refuse(s, "%s in a session", strings.ToUpper(s[0].low))
}

// ends adds COMMIT, ROLLBACK, or ROLLBACK TO.
func (b *builder) ends(se *session, k *Block, s statement, behind int) *Refusal {
	verb := map[string]string{"commit": "COMMIT", "end": "COMMIT", "rollback": "ROLLBACK", "abort": "ROLLBACK"}[s[0].low]
	if s.is(behind, "and", "no", "chain") {
		behind += 3
	}
	switch {
	case behind == len(s):
		return b.end(se, k, verb)
	case s.is(behind, "prepared") && behind+2 == len(s):
		return b.simple(k, verb+" PREPARED "+s[behind+1].sql, false, 0)
	case verb == "ROLLBACK" && s.is(behind, "to"):
		at := behind + 1
		if s.is(at, "savepoint") {
			at++
		}
		if len(s) == at+1 && s[at].names() {
			return b.simple(k, "ROLLBACK TO SAVEPOINT "+backquoted(s[at]), false, 0)
		}
	}
	return refuse(s, "%s with more behind it", verb)
}

// set takes over what names the level of transactions.
func (b *builder) set(se *session, s statement) *Refusal {
	at := 1
	session := s.is(at, "session")
	if session {
		at++
	}
	switch {
	case s.is(at, "characteristics", "as", "transaction"):
		at += 3
	case s.is(at, "transaction"):
		at++
		// MySQL's words say SESSION of the session, PostgreSQL's do not.
		session = session && b.words == MySQL
		if !session && b.words == MySQL {
			return refuse(s, "SET TRANSACTION of the next transaction")
		}
	default:
		return b.setVariable(se, s, at)
	}
	m, ok := modesOf(s, at)
	if !ok || session && (m.level == 0 || m.readOnly || m.readWrite) {
		return refuse(s, "a mode of transactions that a case cannot name")
	}
	if session {
		if se.begin >= 0 {
			return refuse(s, "the session's level is changed in a transaction")
		}
		se.level = m.level
		return nil
	}
	if se.begin < 0 || se.asked {
		return refuse(s, "SET TRANSACTION outside of a transaction's beginning")
	}
	line := &b.steps[se.begin]
	if m.level != 0 {
		line.level = m.level
	}
	if m.readOnly || m.readWrite {
		node, err := corpus.ParseStatement(m.begins())
		if err != nil {
			panic(err) // the text is of this file
		}
		line.Stmt = node
	}
	return nil
}

// planSettings begin the names of settings that change what a statement costs, or who is the victim of a deadlock, and
// no answer that a level promises.
var planSettings = []string{
	"enable_", "seq_page_cost", "random_page_cost", "cpu_", "parallel_", "max_parallel_", "min_parallel_",
	"debug_parallel_query", "work_mem", "deadlock_timeout",
}

// setVariable leaves out a setting of plans, which the case tells, and takes over the level that transactions have of
// themselves.
func (b *builder) setVariable(se *session, s statement, at int) *Refusal {
	if s.is(at, "local") {
		at++
	}
	if at+2 < len(s) && s[at].low == "default_transaction_isolation" && b.words == PostgreSQL {
		l, err := corpus.ParseLevel(strings.Trim(s[at+2].sql, "'"))
		if err != nil || se.begin >= 0 {
			return refuse(s, "a mode of transactions that a case cannot name")
		}
		se.level = l
		return nil
	}
	for _, begin := range planSettings {
		if at < len(s) && strings.HasPrefix(s[at].low, begin) && b.words == PostgreSQL {
			if told := s.text(); !slices.Contains(b.leftOut, told) {
				b.leftOut = append(b.leftOut, told)
			}
			return nil
		}
	}
	what := "SET"
	if at < len(s) {
		what += " " + s[at].low
	}
	return refuse(s, "%s", what)
}

// backquoted returns a name as this project's SQL quotes it.
func backquoted(t token) string {
	return "`" + strings.ReplaceAll(strings.ToLower(t.low), "`", "``") + "`"
}

// OnlyBegins reports whether SQL does nothing but begin and end transactions and set variables of its own session.
func OnlyBegins(blocks ...string) bool {
	for _, sql := range blocks {
		list, err := statements(sql)
		if err != nil {
			return false
		}
		for _, s := range list {
			if !control(s) || slices.ContainsFunc(s, func(t token) bool { return t.low == "prepare" || t.low == "prepared" }) {
				return false
			}
		}
	}
	return true
}
