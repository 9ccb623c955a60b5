package load

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/corpus/protocol"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// ProgramExtension is how the names of programs' files end.
const ProgramExtension = ".load"

// verbs are the words of the steps, by workload.
var verbs = map[kv.Workload]map[kv.Kind]string{
	kv.ListAppend: {kv.ReadList: "read", kv.Append: "append"},
	kv.Register:   {kv.Read: "read", kv.Write: "write"},
	kv.Predicate: {kv.Read: "read", kv.ReadPredicate: "select", kv.Insert: "insert", kv.Write: "update",
		kv.Delete: "delete"},
	kv.Bank: {kv.Read: "read", kv.Delta: "add"},
}

var lockWords = [...]string{plain: "", forShare: " for share", forUpdate: " for update", noWait: " nowait", skipLocked: " skip locked"}

// spellStep appends a step as programs have it.
func spellStep(b []byte, kind kv.Workload, s step) []byte {
	b = append(b, verbs[kind][s.kind]...)
	switch {
	case s.kind == kv.ReadPredicate:
		b = fmt.Appendf(b, " class %d", slices.Index(conditions, s.cond)-1)
	case s.whole:
		b = fmt.Appendf(b, " %d to %d", s.key, s.val)
	case s.kind == kv.Delta:
		b = fmt.Appendf(b, " %d %d", s.key, s.val)
	case kind == kv.Predicate && (s.kind == kv.Insert || s.kind == kv.Write):
		b = fmt.Appendf(b, " %d class %d", s.key, s.val%classes)
	default:
		b = fmt.Appendf(b, " %d", s.key)
		for _, k := range s.also {
			b = fmt.Appendf(b, " %d", k)
		}
	}
	if s.kind.IsRead() {
		b = append(b, lockWords[s.lock]...)
	}
	return b
}

// Text spells the program as its file has it. The statements that a server gets stand in comments; name is the file's,
// for the command that repeats it.
func (p *Program) Text(d *dialect, name string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# txnfuzz replay %s repeats this.\n", name)
	b.WriteString("# In each execution all clients begin together, on keys of their own, with values that nobody else writes.\n")
	for _, l := range p.statements(d) {
		b.WriteString("#   " + l + "\n")
	}
	fmt.Fprintf(&b, "target: %s\nlevel: %s\nworkload: %s\n", p.Target, p.Level.Short(), p.Workload)
	if !p.Protocol.IsText() {
		fmt.Fprintf(&b, "protocol: %s\n", p.Protocol)
	}
	for _, m := range p.Models {
		fmt.Fprintf(&b, "model: %s\n", m)
	}
	if p.Declared != "" {
		fmt.Fprintf(&b, "promise: %s\n", p.Declared)
	}
	if p.Bystanders > 0 {
		fmt.Fprintf(&b, "bystanders: %d\n", p.Bystanders)
	}
	fmt.Fprintf(&b, "shows: %s\n", p.Shows)
	if p.Rate.Of > 0 {
		fmt.Fprintf(&b, "rate: %s\n", p.Rate.spell("executions"))
	}
	if p.Load.Of > 0 {
		fmt.Fprintf(&b, "load: %s\n", p.Load.spell("transactions"))
	}
	b.WriteString("\n" + p.body())
	return b.Bytes()
}

// unique stands for a value of its own where SQL is shown.
const unique = kv.Value(864209753)

// statements shows the SQL of each of its steps, once.
func (p *Program) statements(d *dialect) []string {
	if d == nil {
		return nil
	}
	w := workloads[p.Workload]
	out := slices.Clone(w.define(d))
	p.eachStep(func(s *step) {
		x := *s
		switch x.kind {
		case kv.ReadPredicate:
			x.val = p.stride(w.kind()) - 1
		case kv.Append, kv.Write, kv.Insert:
			x.val = unique - unique%classes + x.val%classes
		}
		sql := strings.ReplaceAll(string(w.sql(d, nil, x)), strconv.Itoa(int(x.val)), "{unique}")
		if x.kind == kv.Delta || x.kind.IsRead() {
			sql = string(w.sql(d, nil, x))
		}
		if l := string(spellStep(nil, w.kind(), *s)) + ": " + sql; !slices.Contains(out, l) {
			out = append(out, l)
		}
	})
	return out
}

// ProgramError is a line of a program that cannot be read.
type ProgramError struct {
	File string
	Line int // 0: the file as a whole
	Err  error
}

func (e *ProgramError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns what is wrong.
func (e *ProgramError) Unwrap() error { return e.Err }

// ReadProgram reads a program's file. An error of its content is a *ProgramError.
func ReadProgram(file string) (*Program, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &ProgramError{File: file, Err: err}
	}
	return parseProgram(file, string(text))
}

func parseProgram(file, text string) (*Program, error) {
	r := programReader{p: &Program{}}
	for i, l := range strings.Split(text, "\n") {
		l, _, _ = strings.Cut(l, " #")
		if l = strings.TrimSpace(l); l == "" || l[0] == '#' {
			continue
		}
		if err := r.line(l); err != nil {
			return nil, &ProgramError{file, i + 1, err}
		}
	}
	if err := r.end(); err != nil {
		return nil, &ProgramError{file, 0, err}
	}
	return r.p, nil
}

// programReader reads a program line by line.
type programReader struct {
	p    *Program
	kind kv.Workload
	lvl  bool
	open bool // a transaction
}

func (r *programReader) line(l string) error {
	if name, value, ok := strings.Cut(l, ":"); ok {
		if len(r.p.clients) > 0 {
			return fmt.Errorf("%q stands behind the first client", l)
		}
		return r.header(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	if f := strings.Fields(l); f[0] == "client" {
		if r.open {
			return fmt.Errorf("the transaction before has no commit or rollback")
		}
		if r.kind == "" {
			return fmt.Errorf("the workload must be named before the first client")
		}
		r.p.clients = append(r.p.clients, nil)
		return nil
	}
	if len(r.p.clients) == 0 {
		return fmt.Errorf("%q: want a line such as \"level: RR\", or \"client\"", l)
	}
	return r.transaction(l)
}

func (r *programReader) header(name, value string) (err error) {
	p := r.p
	switch name {
	case "target":
		p.Target = value
	case "level":
		p.Level, err = corpus.ParseLevel(value)
		r.lvl = true
	case "workload":
		var w workload
		if w, err = findWorkload(value); err == nil {
			p.Workload, r.kind = value, w.kind()
			if verbs[r.kind] == nil {
				err = fmt.Errorf("there are no programs of workload %s", value)
			}
		}
	case "protocol":
		p.Protocol, err = protocol.Parse(value)
	case "model":
		var m model.Model
		if m, err = model.Parse(value); err == nil {
			p.Models = append(p.Models, m)
		}
	case "promise":
		if _, ok := declared[value]; !ok {
			err = fmt.Errorf("unknown promise %q", value)
		}
		p.Declared = value
	case "bystanders":
		if p.Bystanders, err = strconv.Atoi(value); err != nil || p.Bystanders < 0 || p.Bystanders > MostBystanders {
			err = fmt.Errorf("%q: want a number of bystanders from 0 to %d", value, MostBystanders)
		}
	case "shows":
		p.Shows = value
	case "rate":
		if p.Rate, err = parseRate(value); err == nil && p.Rate.Shown > p.Rate.Of {
			err = fmt.Errorf("%q: it cannot show in more executions than there were", value)
		}
	case "load":
		p.Load, err = parseRate(value)
	default:
		err = fmt.Errorf("unknown %q: want target, level, workload, protocol, model, promise, "+
			"bystanders, shows, rate or load", name)
	}
	return err
}

// parseRate reads what Rate.spell writes; of "1 in N executions (A of B in S s)" A, B and S count.
func parseRate(s string) (r Rate, err error) {
	text := s
	if _, in, ok := strings.Cut(s, "("); ok {
		text = strings.TrimSuffix(in, ")")
	}
	f := strings.Fields(strings.NewReplacer(" executions", "", " transactions", "").Replace(text))
	if len(f) == 6 && f[1] == "of" && f[3] == "in" && f[5] == "s" {
		r.Shown, err = strconv.ParseInt(f[0], 10, 64)
		if err == nil {
			r.Of, err = strconv.ParseInt(f[2], 10, 64)
		}
		if err == nil {
			r.Seconds, err = strconv.ParseFloat(f[4], 64)
		}
		if err == nil && r.Of > 0 && r.Shown >= 0 && r.Seconds >= 0 && !math.IsInf(r.Seconds, 0) {
			return r, nil
		}
	}
	return Rate{}, fmt.Errorf("%q: want a rate such as 1 in 4.0 executions (25 of 100 in 0.5 s)", s)
}

func (r *programReader) end() error {
	switch {
	case r.open:
		return fmt.Errorf("the last transaction has no commit or rollback")
	case r.kind == "":
		return fmt.Errorf("no workload is named")
	case !r.lvl:
		return fmt.Errorf("no level is named")
	case len(r.p.tidied().clients) == 0:
		return fmt.Errorf("there is no client with a transaction")
	case r.p.Declared != "" && len(r.p.Models) > 0:
		return fmt.Errorf("model and promise: one of them says what is checked")
	case r.p.Shows == "":
		return fmt.Errorf("it does not say what it shows; want, for example, \"shows: lost-update\"")
	case r.p.Shows != KindLost && model.Meaning(model.Kind(r.p.Shows)) == "":
		return fmt.Errorf("unknown anomaly %q; docs/check.md names all", r.p.Shows)
	}
	return r.p.valid()
}

// mostKeys bounds the keys of a program: each execution gets as many.
const mostKeys = 256

// parseStep reads what spellStep writes.
func parseStep(kind kv.Workload, l string) (s step, err error) {
	text := l
	for lock, words := range lockWords {
		if before, ok := strings.CutSuffix(text, words); ok && words != "" {
			text, s.lock = before, lockOf(lock)
		}
	}
	f := strings.Fields(text)
	found := false
	for k, v := range verbs[kind] {
		if v == f[0] {
			s.kind, found = k, true
		}
	}
	var form string
	switch {
	case !found || s.lock != plain && !s.kind.IsRead():
	case s.kind == kv.ReadPredicate:
		form = "class"
	case kind == kv.Predicate && (s.kind == kv.Insert || s.kind == kv.Write):
		form = "key class"
	case s.kind == kv.Delta:
		form = "key amount"
	case len(f) == 4 && kind == kv.Bank:
		form, s.whole = "key to", true
	case kind == kv.ListAppend && s.kind == kv.ReadList:
		form = "keys"
	default:
		form = "key"
	}
	if form == "" || !fits(form, f[1:], &s) {
		return step{}, fmt.Errorf("%q is no statement of this workload: want one of %s", l, strings.Join(stepForms[kind],
			"; "))
	}
	if kind == kv.Bank && s.kind == kv.Read && !s.whole {
		s.whole, s.val = true, s.key
	}
	return s, nil
}

func lockOf(i int) lock { return lock(i) }

// stepForms are the statements of each workload, for messages.
var stepForms = map[kv.Workload][]string{
	kv.ListAppend: {"read KEY …", "read KEY … for share", "read KEY … for update", "append KEY"},
	kv.Register:   {"read KEY", "read KEY for share", "read KEY for update", "write KEY"},
	kv.Predicate: {"read KEY", "select class 0-7", "insert KEY class 0-7 (odd keys)", "update KEY class 0-7 (even keys)",
		"delete KEY (even keys)", "reads also with for share or for update"},
	kv.Bank: {"read KEY to KEY", "add KEY AMOUNT", "reads also with for share or for update"},
}

// fits reads the words behind a verb.
func fits(form string, words []string, s *step) bool {
	num := func(i int) (kv.Value, bool) {
		if i >= len(words) {
			return 0, false
		}
		n, err := strconv.Atoi(words[i])
		return kv.Value(n), err == nil && -1<<31 < n && n < 1<<31
	}
	first, ok1 := num(0)
	switch form {
	case "keys":
		s.key = first
		for i := 1; i < len(words); i++ {
			k, ok := num(i)
			if !ok || k == first || slices.Contains(s.also, k) {
				return false
			}
			s.also = append(s.also, k)
		}
		return ok1
	case "class":
		n, ok := num(1)
		if len(words) != 2 || words[0] != "class" || !ok || n < 0 || n >= classes {
			return false
		}
		s.cond = conditions[1+n]
		return true
	case "key class":
		n, ok := num(2)
		s.key, s.val = first, n
		return len(words) == 3 && ok1 && words[1] == "class" && ok && 0 <= n && n < classes &&
			(first%2 != 0) == (s.kind == kv.Insert)
	case "key to":
		n, ok := num(2)
		s.key, s.val = first, n
		return len(words) == 3 && ok1 && words[1] == "to" && ok && first <= n
	case "key amount":
		n, ok := num(1)
		s.key, s.val = first, n
		return len(words) == 2 && ok1 && ok
	}
	s.key = first
	return len(words) == 1 && ok1 && (s.kind != kv.Delete || first%2 == 0)
}
