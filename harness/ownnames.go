package harness

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/txnfuzz/txnfuzz/corpus/stmt"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// ownNames stand for names and keys of a case that its database does not keep apart from those of others: the names
// of prepared transactions are one for all of a server, channels and the keys of advisory locks
// for all of a database. Each run draws
// its own.
type ownNames struct {
	// prefix begins the names of prepared transactions and channels, shift is added to keys.
	prefix string
	shift  int64
	// prepares says that some name was sent, listens which sessions have sent a LISTEN.
	prepares bool
	listens  map[int]bool
}

// names draws them when they are first needed.
func (r *run) names() *ownNames {
	if r.own == nil {
		r.own = &ownNames{
			prefix: fmt.Sprintf("%s%d_", r.w.pool.prefix, r.w.pool.named.Add(1)), shift: int64(rand.Uint64()),
			listens: map[int]bool{},
		}
	}
	return r.own
}

// text is what is sent for a step.
func (r *run) text(l *lane, st *step) string {
	switch {
	case st.traits&uses != 0:
		return r.w.pool.speech.use + l.db
	case st.traits&ownNamed == 0:
		return st.sql
	}
	own := r.names()
	switch s := st.node.(type) {
	case *stmt.PreparedStmt:
		own.prepares = true
		return s.Named(own.prefix + s.Name)
	case *stmt.NotifyStmt:
		if s.Does == stmt.Listen {
			own.listens[l.number] = true
		}
		if s.Channel == "" {
			return st.sql
		}
		return s.On(own.prefix + s.Channel)
	}
	return own.advisory(st.sql)
}

// advisoryCall is a call of a function for advisory locks whose keys are numbers.
var advisoryCall = regexp.MustCompile(`(?i)\b(pg_(?:try_)?advisory_\w*) *\( *(-?[0-9]+) *(?:, *(-?[0-9]+) *)?\)`)

// advisory shifts the keys of a statement's advisory locks. One key is of 64 bits, two are of 32.
func (o *ownNames) advisory(sql string) string {
	return advisoryCall.ReplaceAllStringFunc(sql, func(call string) string {
		m := advisoryCall.FindStringSubmatch(call)
		first, _ := strconv.ParseInt(m[2], 10, 64)
		if m[3] == "" {
			return fmt.Sprintf("%s('%d'::bigint)", m[1], first+o.shift)
		}
		second, _ := strconv.ParseInt(m[3], 10, 64)
		return fmt.Sprintf("%s('%d'::int, '%d'::int)", m[1], int32(first)+int32(o.shift), int32(second)+int32(o.shift>>32))
	})
}

// advisoryTraits are those of a statement that takes or gives back advisory locks, and why it is refused: keys that are
// not numbers would be those of others.
func advisoryTraits(words []string, sql string) (t traits, refused string) {
	calls := 0
	for _, w := range words {
		if !strings.HasPrefix(w, "pg_advisory_") && !strings.HasPrefix(w, "pg_try_advisory_") || w == unlockAll {
			continue
		}
		calls++
		t |= locks | taints | ownNamed
		if strings.Contains(w, "unlock") {
			t |= ends
		}
	}
	if calls > len(advisoryCall.FindAllString(sql, -1)) {
		return 0, "the key of an advisory lock is a number in the statement"
	}
	return t, ""
}

// unlockAll gives back what its own session holds, and has no key.
const unlockAll = "pg_advisory_unlock_all"

// onlyPostgres reports whether a statement is in words that no other server has.
func onlyPostgres(n ast.StmtNode) bool {
	k := stmt.KindOf(n)
	switch n.(type) {
	case *stmt.SequenceStmt, *stmt.ModesStmt:
		return true
	}
	return k == stmt.SetConstraints || k.OfPrepared() || k.BesideRows()
}

// asNamed gives what an error speaks of the name that it has in the case.
func (r *run) asNamed(e *history.Error) {
	if r.own != nil {
		e.Message = strings.ReplaceAll(e.Message, r.own.prefix, "")
	}
}

// rollBackPrepared ends the prepared transactions that the run has left. They outlive their sessions, and hold locks
// on the tables.
func (r *run) rollBackPrepared() error {
	if r.own == nil || !r.own.prepares {
		return nil
	}
	w := r.w
	if w.ctl.broken {
		w.hangUp(w.ctl)
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if err := w.connectControl(ctx); err != nil {
			return &LostError{fmt.Errorf("roll back what is prepared: %w", err)}
		}
	}
	return endPrepared(w.query, func(name string) (bool, error) { return strings.HasPrefix(name, r.own.prefix), nil })
}

// preparedByUser lists the prepared transactions of the database that its user may end.
// https://www.postgresql.org/docs/current/view-pg-prepared-xacts.html
const preparedByUser = "SELECT gid FROM pg_catalog.pg_prepared_xacts WHERE database = current_database() AND owner = current_user"

// endPrepared rolls back the prepared transactions whose names are chosen.
func endPrepared(ask func(sql string) (Reply, error), chosen func(name string) (bool, error)) error {
	all, err := ask(preparedByUser)
	if err != nil {
		return fmt.Errorf("list what is prepared: %w", err)
	}
	var errs []error
	for _, row := range all.Rows {
		yes, err := chosen(row[0].Text)
		if err == nil && yes {
			_, err = ask("ROLLBACK PREPARED '" + row[0].Text + "'")
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// preparedLeft is the name of a prepared transaction of a pool that holds a lock; the first group is the lock's.
var preparedLeft = regexp.MustCompile(`^(` + DatabasePrefix + `[0-9]+_[0-9a-f]{8}k_)[0-9]+_[A-Za-z0-9_]+$`)
