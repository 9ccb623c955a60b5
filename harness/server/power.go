package server

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/server/powerloss"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const powerName = "power"

var errNoPowerLoss = errors.New("this server was not started to lose its power")

// roomForJournal is what a journal may take of the disk, in bytes.
func roomForJournal(power bool) int64 {
	if power {
		return powerloss.Room
	}
	return 0
}

// keepJournal begins a journal of what the server in a folder will write, whose data are in place.
func (f *folder) keepJournal(ctx context.Context) error {
	cache, err := cacheFolder()
	if err != nil {
		return err
	}
	library, err := powerloss.Library(ctx, cache)
	if err != nil {
		return err
	}
	f.journal, err = powerloss.New(library, filepath.Join(f.path, powerName), filepath.Join(f.path, "data"))
	return err
}

// rearm prepares the journal, if there is one, for a start.
func (f *folder) rearm() error {
	if f.journal == nil {
		return nil
	}
	return f.journal.Rearm()
}

// journalling is what stands before the command of a server whose writes are journalled.
func (f *folder) journalling() []string {
	if f.journal == nil {
		return nil
	}
	return append([]string{"/usr/bin/env"}, f.journal.Environment()...)
}

// What a server is told beside the arguments of a durable one, so that all it writes goes through calls that can be
// undone. None of it changes what the vendor promises.
// https://dev.mysql.com/doc/refman/en/innodb-parameters.html#sysvar_innodb_use_native_aio
// https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables
var (
	powerArguments = map[history.DBMS][]string{
		history.MySQL:   {"--innodb-use-native-aio=0"},
		history.MariaDB: {"--innodb-use-native-aio=0", "--loose-innodb-log-file-mmap=0"},
	}
	clusterPower = []setting{{"10", "wal_sync_method", "fdatasync"}, {"18", "io_method", "sync"}}
)

// durabilities are the variables that tell what of a killed server is left, beside those that always are told.
var durabilities = []string{"innodb_doublewrite", "innodb_flush_log_at_trx_commit", "innodb_flush_method", "sync_binlog"}

// telling returns the variables that an instance is asked for.
func (b *private) telling() []string {
	keys := b.spec.sortedKeys()
	if b.durable {
		keys = append(keys, durabilities...)
	}
	return keys
}

// losePower kills a server and undoes what it had not synced.
func (r *running) losePower(seed uint64, kill func() error) (harness.Undone, error) {
	f := r.instance().folder
	if f.journal == nil {
		return harness.Undone{}, errNoPowerLoss
	}
	if err := kill(); err != nil {
		return harness.Undone{}, err
	}
	// Both can happen: all is lost, or a part.
	return f.journal.Undo(seed&1 == 1, seed)
}

// LosePower implements harness.PowerLoser.
func (b *private) LosePower(seed uint64) (harness.Undone, error) {
	return b.losePower(seed, b.Kill)
}

// LosePower implements harness.PowerLoser.
func (b *cluster) LosePower(seed uint64) (harness.Undone, error) {
	return b.losePower(seed, b.Kill)
}

var (
	_ harness.PowerLoser = (*private)(nil)
	_ harness.PowerLoser = (*cluster)(nil)
)
