package load

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// copyPromise is what a vendor says of the state that a copy of a server's files holds, in the words of the manual.
type copyPromise struct{ quote, cite string }

// copyPromises are those of the ways that copy files. What the vendors say comes to the same: the copy is what recovery
// makes of the log to one place in it, which the log had come to while the copy was taken. So each transaction is there
// as a whole or not at all, and with it all that was committed in the log before: what was acknowledged before the copy
// was begun, and what the transaction overwrote. That clients have seen no other order of two commits is not promised:
// a server shows commits in the order in which they leave a list in memory, which may be another one than that of the
// log.
var copyPromises = map[Backup]copyPromise{
	Backup(harness.MySQLClone): {
		"Cloned data is a physical snapshot of data stored in InnoDB",
		"https://dev.mysql.com/doc/refman/en/clone-plugin.html"},
	Backup(harness.MariaDBBackup): {
		"Before you can restore from a backup, you first need to prepare it to make the data files consistent",
		"https://mariadb.com/docs/server/server-usage/backing-up-and-restoring-databases/mariabackup/" +
			"full-backup-and-restore-with-mariabackup"},
	Backup(harness.BaseBackup): {
		"We could stop the replay at any point and have a consistent snapshot of the database as it was at that time",
		"https://www.postgresql.org/docs/current/continuous-archiving.html"},
}

func (p copyPromise) String() string {
	return fmt.Sprintf("each copy holds all that was committed to some place in the log, which lies between the copy's "+
		"beginning and its end: %q (%s)", p.quote, p.cite)
}

// copyModels are what the changes of the clients and the states of the copies come to, in the order of the log.
var copyModels = []model.Model{model.Serializable, model.StrongSessionSerializable, model.StrictSerializable}

// copy copies the server's files, starts a server on the copy and reads all keys there, which is a transaction as that
// of a dump is.
func (r *run) copy(e *epoch, t *tape) (err error) {
	ctx, cancel := context.WithTimeout(r.life, copyTime)
	defer cancel()
	e.copying.Store(true)
	defer e.copied()
	x := taken{invoke: r.now()}
	c, err := r.backend.(harness.Copying).Copy(ctx, harness.CopyMethod(r.settings.Backup))
	if err != nil {
		return err
	}
	r.complete(e, &x)
	e.copied()
	s := r.workload.readAll(e)
	b, err := c.Start(ctx)
	var unfit *harness.CopyError
	if errors.As(err, &unfit) {
		e.unfit = append(e.unfit, Finding{
			Kind: KindBackup, Epoch: e.number, Count: 1, Says: strings.Split(strings.TrimSpace(unfit.Error()), "\n"),
		})
		return nil
	}
	if err != nil {
		return fmt.Errorf("start a server on a copy: %w", err)
	}
	defer func() {
		if e := b.Close(); err == nil && e != nil {
			err = fmt.Errorf("end the server on a copy: %w", e)
		}
	}()
	a, err := r.readCopy(ctx, e, b, s)
	if a == nil || err != nil {
		return err
	}
	return r.backedUp(t, s, a, x)
}

// readCopy reads all keys on a server that was started on a copy. The answer is nil where that server says that it
// cannot, or has died, which is a finding.
func (r *run) readCopy(ctx context.Context, e *epoch, b harness.Backend, s step) (*answer, error) {
	d, err := dialOf(b)
	if err != nil {
		return nil, err
	}
	c := &session{dial: d, timeout: time.Minute, setup: r.control.setup}
	defer c.close()
	q := string(r.workload.sql(r.dialect, nil, s))
	var a *answer
	if err = c.connect(ctx); err == nil {
		a, err = c.query(q)
	}
	unfit := func(kind string, says []string) {
		e.unfit = append(e.unfit, Finding{Kind: kind, Epoch: e.number, Count: 1, Says: says[:min(len(says), logLines)]})
	}
	if l, ok := b.(interface{ LogProblems() []string }); ok {
		if lines := l.LogProblems(); len(lines) > 0 {
			unfit(KindLog, append([]string{"a server that was started on a copy wrote:"}, lines...))
		}
	}
	switch {
	case err == nil:
		return a, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("read a copy: %w", err)
	case errorCode(err) != noCode:
		unfit(KindBackup, []string{"a server that was started on a copy answers " + q + " with: " + err.Error()})
	default:
		dead := b.Alive(ctx)
		if dead == nil || strings.Contains(dead.Error(), "signal 9 ") { // it did not end by itself
			return nil, fmt.Errorf("read a copy: %w", err)
		}
		unfit(KindBackup, append([]string{"a server that was started on a copy: " + dead.Error()},
			strings.Split(strings.TrimSpace(b.Log()), "\n")...))
	}
	return nil, nil
}

// copies checks the states that copies hold against what clients changed.
func (j *judge) copies(e *epoch, events []event) error {
	if !j.run.settings.Backup.Copies() {
		return nil
	}
	promised := copyPromises[j.run.settings.Backup].String()
	_, _, err := j.held(e, j.logged(events), copyModels, nil, "of backups", promised)
	return err
}

// logged makes the pieces of an epoch that say in which order its changes were logged, with what copies hold and what
// was read when all had ended.
func (j *judge) logged(events []event) []kv.Record {
	f := fragments{promise: j.promise, dying: j.header.Workload == kv.Mixed}
	for _, e := range events {
		if !e.t.copied {
			f.session = max(f.session, e.session)
		}
	}
	out := make([]kv.Record, 0, len(events))
	for _, e := range events {
		if e.t.copied || e.session == readerSession {
			out = append(out, e.record())
			continue
		}
		f.split(e, func(r kv.Record) {
			if slices.Contains(j.promise.models, model.ReadUncommitted) {
				r.Ops = locking(e) // the level takes nothing apart
			}
			r.Ops = changing(r)
			if len(r.Ops) > 0 {
				f.session++
				r.Session = f.session
				out = append(out, r)
			}
		})
	}
	return out
}

// locking leaves out plain reads: at READ UNCOMMITTED what these show may never have been committed.
func locking(e event) []kv.RecordOp {
	var out []kv.RecordOp
	for i, o := range e.ops() {
		if !o.Kind.IsRead() || e.how()[i].lock != plain {
			out = append(out, o)
		}
	}
	return out
}

// writeBackups tells people of the backups.
func (r *Report) writeBackups(b *strings.Builder) {
	fmt.Fprintf(b, "%s (%s), each a transaction that read everything\n", counted(r.Backups, "backup"), r.Backup)
	fmt.Fprintf(b, "  %d were complete while clients worked; %.2f s each, and %.2f s more until it was read\n",
		r.BackupsBeside, r.BackupSeconds, r.BackupReadSeconds)
	if r.BackupPromise != "" {
		fmt.Fprintf(b, "promised of backups: %s\n", r.BackupPromise)
	}
}
