package harness

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// behind is how a worker looks at the replica of the server that its cases run on.
type behind struct {
	remote
	form     string
	follower Follower
}

// follow returns how a worker looks at the replica, nil where there is none.
func (p *Pool) follow(ctx context.Context) (*behind, error) {
	if p.replicated == nil {
		return nil, nil
	}
	db, f, err := p.replica(ctx)
	if err != nil {
		return nil, err
	}
	return &behind{remote{db: db}, p.replicated.Topology().Form, f}, nil
}

// replica returns the replica, and who asks how far it is.
func (p *Pool) replica(ctx context.Context) (Database, Follower, error) {
	t := p.replicated.Topology()
	i := slices.IndexFunc(t.Nodes, func(n Node) bool { return n.Role == Replica })
	if i < 0 {
		return nil, nil, errors.New("follow a primary: it has no replica")
	}
	db, err := DatabaseOf(t.Nodes[i].Backend)
	if err != nil {
		return nil, nil, err
	}
	f, err := p.replicated.Follow(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("follow a primary: %w", err)
	}
	return db, f, nil
}

func (b *behind) close() error {
	_ = b.remote.close()
	return b.follower.Close()
}

// outcome is what a case leaves where it has begun: final is what the tables of specs hold.
type outcome struct {
	s     *script
	p     *provisioned
	specs []tableSpec
	final []history.Table
	// on names the server where that is, to people.
	on string
}

// compareReplica waits until the replica has applied what the case committed, and tells in the history what is wrong
// with it.
func (w *worker) compareReplica(ctx context.Context, o outcome, h *history.History) error {
	w.pool.stats.replicated.Add(1)
	trouble, err := w.replicaTrouble(ctx, o)
	if trouble == nil || err != nil {
		return err
	}
	trouble.Form, trouble.Unsafe = w.behind.form, w.unsafe
	h.Replica = trouble
	return nil
}

func (w *worker) replicaTrouble(ctx context.Context, o outcome) (*history.ReplicaTrouble, error) {
	db := o.p.db
	// What differs is looked at twice: then it is not by the moment of the look.
	for again := false; ; again = true {
		err := w.behind.follower.CatchUp(ctx)
		var stopped *StoppedError
		switch {
		case errors.As(err, &stopped):
			own := strings.Contains(stopped.Text, db+".") || strings.Contains(stopped.Text, "'"+db+"'")
			text := withoutPlaces(strings.ReplaceAll(stopped.Text, db, caseDatabase))
			return &history.ReplicaTrouble{Stopped: true, Code: stopped.Code, Text: text, Own: own}, nil
		case err != nil:
			return nil, lostUnlessCancelled(ctx, fmt.Errorf("wait for the replica: %w", err))
		}
		trouble, err := w.replicaDiffers(ctx, o)
		if trouble == nil || again || err != nil {
			return trouble, err
		}
	}
}

// caseDatabase stands for the database of a case in what a replica says.
const caseDatabase = "db"

// replicaDiffers compares the tables that a case leaves with those of the replica.
func (w *worker) replicaDiffers(ctx context.Context, o outcome) (*history.ReplicaTrouble, error) {
	in := w.pool.speech
	return o.elsewhere(in, func(sql string) (Reply, error) {
		r, err := w.behind.execute(ctx, in.use, o.p.db, sql)
		if err != nil {
			err = lostUnlessCancelled(ctx, fmt.Errorf("read the replica: %w", err))
		}
		return r, err
	})
}

// elsewhere tells how the tables of another server, which execute asks, differ from those that the case left; nil: they
// do not.
func (o *outcome) elsewhere(in *speech, execute func(sql string) (Reply, error)) (*history.ReplicaTrouble, error) {
	if o.s.traits&altersSchema != 0 {
		r, err := execute(in.tables)
		if err != nil {
			return nil, err
		}
		if trouble := o.tablesDiffer(&r); trouble != nil {
			return trouble, nil
		}
	}
	if len(o.specs) == 0 {
		return nil, nil
	}
	r, err := execute(in.reading(o.specs))
	if err != nil {
		return nil, err
	}
	return o.differs(&r)
}

// differs tells how another server's answer to a read of the tables differs from what the case left; nil: it does not.
func (o *outcome) differs(r *Reply) (*history.ReplicaTrouble, error) {
	if r.Err != nil {
		at := min(len(r.Earlier), len(o.specs)-1)
		text := strings.ReplaceAll(r.Err.String(), o.p.db, caseDatabase)
		return &history.ReplicaTrouble{Table: o.specs[at].name, Error: text, Own: true}, nil
	}
	have, err := tablesOf(r, o.specs)
	if err != nil {
		return nil, err
	}
	for i := range o.final {
		if trouble := o.compareRows(&o.final[i], &have[i]); trouble != nil {
			return trouble, nil
		}
	}
	return nil, nil
}

// tablesDiffer compares which tables there are, behind a case that makes or drops some, with what another server lists. A
// table that the other one lacks is missed when it is read.
func (o *outcome) tablesDiffer(r *Reply) *history.ReplicaTrouble {
	if r.Err != nil {
		return &history.ReplicaTrouble{Error: strings.ReplaceAll(r.Err.String(), o.p.db, caseDatabase), Own: true}
	}
	for _, row := range r.Rows {
		name := row[0].Text
		if row[1].Text == "BASE TABLE" && !slices.ContainsFunc(o.specs, func(t tableSpec) bool { return t.name == name }) {
			return &history.ReplicaTrouble{Table: name, Error: "that it has this table, which " + o.on + " has not", Own: true}
		}
	}
	return nil
}

// compareRows tells how a table of another server differs from the case's, whatever the order of the rows; nil: it does
// not.
func (o *outcome) compareRows(own, other *history.Table) *history.ReplicaTrouble {
	a, b := sortedRows(own.Rows), sortedRows(other.Rows)
	if slices.Equal(a, b) && slices.Equal(own.Columns, other.Columns) {
		return nil
	}
	out := &history.ReplicaTrouble{Table: own.Name, Own: true}
	if !slices.Equal(own.Columns, other.Columns) {
		out.Error = fmt.Sprintf("columns (%s), %s (%s)",
			strings.Join(other.Columns, ", "), o.on, strings.Join(own.Columns, ", "))
		return out
	}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			out.Primary, a = append(out.Primary, a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			out.Replica, b = append(out.Replica, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return out
}

// unsafeStatement is the number of the warning that a statement is not surely repeated by its text.
// https://dev.mysql.com/doc/mysql-errors/9.7/en/server-error-reference.html#error_er_binlog_unsafe_statement
const unsafeStatement = "1592"

// askUnsafe notes whether a statement that warned of something did so because the binary log holds its text.
func (r *run) askUnsafe(l *lane, result *history.Result) error {
	if r.w.behind == nil || result.Warnings == 0 || result.Err != nil || !r.w.pool.logsStatements() {
		return nil
	}
	told, err := r.w.idle(l.connection, "SHOW WARNINGS")
	if err != nil {
		return err
	}
	unsafe := func(row []history.Cell) bool { return len(row) > 1 && row[1].Text == unsafeStatement }
	if slices.ContainsFunc(told.Rows, unsafe) {
		r.w.unsafe = append(r.w.unsafe, l.stmt)
		r.w.pool.stats.unsafe.Add(1)
	}
	return nil
}

// logsStatements says that the binary log holds statements, whatever they are.
func (p *Pool) logsStatements() bool { return p.server.Settings["binlog_format"] == "STATEMENT" }

// belowRepeatable matches a statement that sets a level at which a binary log in STATEMENT form takes no change of
// InnoDB.
var belowRepeatable = regexp.MustCompile(`(?i)\bREAD[ -](UN)?COMMITTED\b`)

// takesLevels refuses a case that sets a level at which the primary would refuse each change, with error 1665.
// https://dev.mysql.com/doc/refman/9.7/en/binary-log-setting.html
func (p *Pool) takesLevels(s *script) error {
	if p.replicated == nil || !p.logsStatements() {
		return nil
	}
	for i := range s.steps {
		if st := &s.steps[i]; st.traits&setsLevel != 0 && belowRepeatable.MatchString(st.sql) {
			return &RefusedError{st.sql, "a binary log in STATEMENT form takes no change of InnoDB at this level (error 1665)"}
		}
	}
	return nil
}

// Where in its files a replica came across an error says nothing of it.
var places = []*regexp.Regexp{
	regexp.MustCompile(`^Worker \d+ failed executing transaction '[^']*' at (source|master) log [^,]*, end_log_pos \d+; `),
	regexp.MustCompile(`;? the event's (source|master) log [^,]*, end_log_pos \d+`),
}

func withoutPlaces(text string) string {
	for _, p := range places {
		text = p.ReplaceAllString(text, "")
	}
	return text
}
