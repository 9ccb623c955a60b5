package promise

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// step is what a statement of a transaction has done.
type step struct {
	e *event
	// before is what it met, behind so many commits.
	before  state
	commits int
	did     write
}

// stepped notes what a statement has done.
func (o own) stepped(e *event, before state, commits int, did write) own {
	if e.writes() {
		o.steps = append(slices.Clip(o.steps), step{e, before, commits, did})
	}
	return o
}

// rowTrace is what became of one row of a table that others have changed. Its places are keys, or the texts of rows in
// a table without a primary key.
type rowTrace struct {
	// origin is its place at first, "" if it was made later; now is where it is, "" if it is gone.
	origin, now string
	// by is the number of the commit of which it was last changed.
	by int
}

// tracesOf follows the rows of a table that transactions have changed behind some commits. ok is false if it cannot be
// told which row has become which.
//
// PostgreSQL tells rows apart by where they stand, and follows one from version to version, whatever its key; a row
// that is made again is another one. It costs a question for each row of the tables that statements met which may have
// given rows other keys.
func (j *judge) tracesOf(table int, w *world, commits int) (traces []rowTrace, ok bool, err error) {
	for n := commits; n < w.newest(); n++ {
		steps := w.steps[n]
		if steps == nil && len(w.wrote[n][table]) > 0 {
			return nil, false, nil
		}
		for i := range steps {
			s := &steps[i]
			if s.e.st.Result.Affected == 0 || !s.e.mayName(j, table) {
				if len(s.did[table]) > 0 {
					return nil, false, nil
				}
				continue
			}
			moves, made, ok, err := j.movesOf(s, table)
			if err != nil || !ok {
				return nil, false, err
			}
			if traces, ok = follow(traces, s, table, n, moves, made); !ok {
				return nil, false, nil
			}
		}
	}
	return traces, true, nil
}

// movesOf tells where a statement has put the rows that it changed, "" for none, and which rows it made.
func (j *judge) movesOf(s *step, table int) (moves map[string]string, made []string, ok bool, err error) {
	bag := len(j.layout[table].key) == 0
	moves = map[string]string{}
	put := func() bool { // in place, or away
		for key, is := range s.did[table] {
			was, had := s.before[table][key]
			switch {
			case !had || bag && -is.n != was.n || !bag && is.n > 1:
				return false
			case !bag && is.n == 1:
				moves[key] = key
			default:
				moves[key] = ""
			}
		}
		return true
	}
	var words []string
	if raw := j.inWords(s.e); raw != nil {
		if words = raw.Words(); strings.Contains(raw.SQL, `"`) {
			return nil, nil, false, nil
		}
	} else if insert, ok := s.e.node.(*ast.InsertStmt); !ok || insert.IsReplace || len(insert.OnDuplicate) > 0 {
		return nil, nil, false, nil
	} else {
		words = []string{"insert"}
	}
	givesKey := j.givesKey(words, table)
	switch {
	case words[0] == "delete":
		return moves, nil, put(), nil
	case words[0] == "update" && !bag && !givesKey:
		return moves, nil, put(), nil
	case words[0] == "update":
		moves, ok, err = j.imagesOf(s, table)
		return moves, nil, ok, err
	case words[0] == "insert" && !slices.Contains(words, "delete") &&
		!(slices.Contains(words, "conflict") && (bag || givesKey)):
		for key, is := range s.did[table] {
			switch _, had := s.before[table][key]; {
			case is.n <= 0:
				return nil, nil, false, nil
			case had && !bag:
				moves[key] = key
			default:
				for range is.n {
					made = append(made, key)
				}
			}
		}
		return moves, made, true, nil
	}
	return nil, nil, false, nil
}

// imagesOf tells what an UPDATE makes of each row alone; ok is false if that is not what it has done to all of them.
func (j *judge) imagesOf(s *step, table int) (images map[string]string, ok bool, err error) {
	rows, ok, err := j.rowsAlone(s.e, s.before, table)
	if err != nil || !ok {
		return nil, false, err
	}
	images = map[string]string{}
	behind := content{}
	for i := range rows {
		r := &rows[i]
		switch hits(s.e, r.answer) {
		case 0:
		case 1:
			images[r.from] = r.to
		default:
			return nil, false, nil
		}
		if r.to == "" {
			return nil, false, nil
		}
		behind[r.to] = entry{r.is.cells, behind[r.to].n + r.was.n}
	}
	together, ok := j.layout.plus(s.before, s.did)
	return images, ok && j.layout.difference(s.before.holding(table, behind), together).empty(), nil
}

// follow takes traces on by what a statement of a commit did.
func follow(traces []rowTrace, s *step, table, commit int, moves map[string]string, made []string) ([]rowTrace, bool) {
	out := slices.Clone(traces)
	for from, to := range moves {
		known := 0
		for i, t := range traces {
			if t.now != from {
				continue
			}
			if t.by != commit && t.by >= s.commits { // a row that the statement has not met
				return nil, false
			}
			out[i].now, out[i].by = to, commit
			known++
		}
		n := s.before[table][from].n
		if known > n {
			return nil, false
		}
		for range n - known {
			out = append(out, rowTrace{from, to, commit})
		}
	}
	for _, at := range made {
		out = append(out, rowTrace{"", at, commit})
	}
	return out, true
}
