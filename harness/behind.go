package harness

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// behind is how a worker looks at the replica of the server that its cases run on.
type behind struct {
	form     string
	follower Follower
	db       Database
	session  *connection // of the replica; nil until it is needed
}

// follow returns how a worker looks at the replica, nil where there is none.
func (p *Pool) follow(ctx context.Context) (*behind, error) {
	if p.replicated == nil {
		return nil, nil
	}
	t := p.replicated.Topology()
	i := slices.IndexFunc(t.Nodes, func(n Node) bool { return n.Role == Replica })
	if i < 0 {
		return nil, errors.New("follow a primary: it has no replica")
	}
	f, err := p.replicated.Follow(ctx)
	if err != nil {
		return nil, fmt.Errorf("follow a primary: %w", err)
	}
	db, err := DatabaseOf(t.Nodes[i].Backend)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &behind{form: t.Form, follower: f, db: db}, nil
}

func (b *behind) close() error {
	if b.session != nil {
		_ = b.session.Close()
		b.session = nil
	}
	return b.follower.Close()
}

// execute runs a text on the replica, in a database.
func (b *behind) execute(ctx context.Context, use, db, sql string) (Reply, error) {
	if b.session != nil && b.session.broken {
		_ = b.session.Close()
		b.session = nil
	}
	if b.session == nil {
		s, err := b.db.Open(ctx, true)
		if err != nil {
			return Reply{}, fmt.Errorf("connect to the replica: %w", err)
		}
		b.session = newConnection(s, 0)
	}
	late := time.AfterFunc(replicaPatience, b.session.Cut)
	defer late.Stop()
	if b.session.db != db {
		sql = use + db + ";" + sql
		b.session.db = "" // if that fails
	}
	r, err := b.session.Execute(sql)
	if err != nil {
		b.session.broken = true
		return r, fmt.Errorf("read the replica: %w", err)
	}
	if r.Err == nil {
		b.session.db = db
	}
	return r, nil
}

// replicaPatience is longer than a replica takes to read the tables of a case.
const replicaPatience = 20 * time.Second

// outcome is what a case leaves on the primary: final is what the tables of specs hold.
type outcome struct {
	s     *script
	p     *provisioned
	specs []tableSpec
	final []history.Table
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
	in, specs := w.pool.speech, o.specs
	if o.s.traits&altersSchema != 0 {
		if trouble, err := w.tablesDiffer(ctx, o.p, specs); trouble != nil || err != nil {
			return trouble, err
		}
	}
	if len(specs) == 0 {
		return nil, nil
	}
	r, err := w.behind.execute(ctx, in.use, o.p.db, in.reading(specs))
	if err != nil {
		return nil, lostUnlessCancelled(ctx, err)
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
		if trouble := compareRows(&o.final[i], &have[i]); trouble != nil {
			return trouble, nil
		}
	}
	return nil, nil
}

// tablesDiffer compares which tables there are, behind a case that makes or drops some.
func (w *worker) tablesDiffer(ctx context.Context, p *provisioned, specs []tableSpec) (*history.ReplicaTrouble, error) {
	r, err := w.behind.execute(ctx, w.pool.speech.use, p.db, w.pool.speech.tables)
	if err != nil {
		return nil, lostUnlessCancelled(ctx, err)
	}
	if r.Err != nil {
		return &history.ReplicaTrouble{Error: strings.ReplaceAll(r.Err.String(), p.db, caseDatabase), Own: true}, nil
	}
	for _, row := range r.Rows {
		name := row[0].Text
		if row[1].Text == "BASE TABLE" && !slices.ContainsFunc(specs, func(t tableSpec) bool { return t.name == name }) {
			const more = "that it has this table, which the primary has not"
			return &history.ReplicaTrouble{Table: name, Error: more, Own: true}, nil
		}
	}
	return nil, nil
}

// compareRows tells how a table of the replica differs from the primary's, whatever the order of the rows; nil: it does
// not.
func compareRows(primary, replica *history.Table) *history.ReplicaTrouble {
	a, b := sortedRows(primary.Rows), sortedRows(replica.Rows)
	if slices.Equal(a, b) && slices.Equal(primary.Columns, replica.Columns) {
		return nil
	}
	out := &history.ReplicaTrouble{Table: primary.Name, Own: true}
	if !slices.Equal(primary.Columns, replica.Columns) {
		out.Error = fmt.Sprintf("columns (%s), the primary (%s)",
			strings.Join(replica.Columns, ", "), strings.Join(primary.Columns, ", "))
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
