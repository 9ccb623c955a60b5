package server

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// baseBackup is the program that copies a PostgreSQL.
var baseBackup = beside{[]string{"pg_basebackup"}, postgresPackage}

// copiedSettings are what a server that is to be copied needs beyond others: it sends its log beside its files.
// https://www.postgresql.org/docs/current/app-pgbasebackup.html
func copiedSettings(o harness.Options) []setting {
	if !o.Copied {
		return nil
	}
	return []setting{{"10", "wal_level", "replica"}, {"10", "max_wal_senders", "10"}}
}

// CanCopy implements harness.Copying.
func (b *cluster) CanCopy(m harness.CopyMethod) error {
	if err := copiesOf(history.PostgreSQL, m); err != nil {
		return err
	}
	if !b.sends {
		return errors.New("this server was not started to be copied")
	}
	_, err := b.in.client(baseBackup)
	return err
}

// Copy implements harness.Copying. The log comes beside the files, over a connection of its own, so that the server
// keeps what the copy needs.
func (b *cluster) Copy(ctx context.Context, m harness.CopyMethod) (harness.DataCopy, error) {
	if err := b.CanCopy(m); err != nil {
		return nil, err
	}
	command, err := b.in.client(baseBackup)
	if err != nil {
		return nil, err
	}
	from := b.instance().folder
	c, err := newCopying(b.data(from), b.parent, b.owner)
	if err != nil {
		return nil, err
	}
	c.start = b.startCopy
	return c, c.runs(ctx, append(command[:len(command):len(command)], "--pgdata="+c.data(), "--wal-method=stream",
		"--checkpoint=fast", "--no-sync", "--no-password", "--host="+from.path, "--port="+strconv.Itoa(b.socketPort()),
		"--username="+clusterUser))
}

// startCopy starts a server on a copy: a recovery, to the end of the log that came with it.
func (b *cluster) startCopy(ctx context.Context, f *folder) (harness.Backend, error) {
	again := &cluster{spec: b.spec, in: b.in, owner: b.owner, parent: filepath.Dir(f.path), extra: b.extra}
	p, server, err := again.launch(ctx, f)
	if err != nil {
		return nil, err
	}
	again.current, again.server = p, server
	return again, nil
}
