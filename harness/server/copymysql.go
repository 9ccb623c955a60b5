package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// oldestClone is the first MySQL that can clone.
// https://dev.mysql.com/doc/relnotes/mysql/8.0/en/news-8-0-17.html
const oldestClone = "8.0.17"

// copiedLogs are the sizes of the log of a server that is copied: mariadb-backup fails if the server writes over what
// mariadb-backup has not yet copied. https://mariadb.com/docs/server/server-usage/backup-and-restore/mariadb-backup
var copiedLogs = map[history.DBMS][]string{history.MariaDB: durableLogs[history.MariaDB]}

// mariadbBackup is the program that copies a MariaDB.
var mariadbBackup = beside{[]string{"mariadb-backup", "mariabackup"},
	"mariadb-backup (scripts/servers mariadb:11.8 has it)"}

const clonePlugin = "mysql_clone.so"

// pluginExists is MySQL's answer to INSTALL PLUGIN of one that is there.
const pluginExists = 1125

// CanCopy implements harness.Copying.
func (b *private) CanCopy(m harness.CopyMethod) error {
	if err := copiesOf(b.in.family, m); err != nil {
		return err
	}
	switch m {
	case harness.MySQLClone:
		if !atLeast(b.in.version, oldestClone) {
			return fmt.Errorf("MySQL %s has no CLONE, which is there from %s on", b.in.version, oldestClone)
		}
		if _, err := os.Stat(filepath.Join(b.in.plugins, clonePlugin)); b.in.plugins != "" && err != nil {
			return fmt.Errorf("MySQL clones with its plugin: %w", err)
		}
	case harness.MariaDBBackup:
		_, err := b.in.client(mariadbBackup)
		return err
	}
	return nil
}

// Copy implements harness.Copying.
func (b *private) Copy(ctx context.Context, m harness.CopyMethod) (harness.DataCopy, error) {
	if err := b.CanCopy(m); err != nil {
		return nil, err
	}
	c, err := newCopying(filepath.Join(b.instance().folder.path, "data"), b.parent, nil)
	if err != nil {
		return nil, err
	}
	c.start = b.startCopy
	if m == harness.MySQLClone {
		return c, b.clone(ctx, c)
	}
	return c, b.runBackup(ctx, c)
}

// clone has a MySQL copy itself. https://dev.mysql.com/doc/refman/en/clone-plugin-local.html
func (b *private) clone(ctx context.Context, c *copying) error {
	if err := c.hold(waits); err != nil {
		return err
	}
	s := &side{to: b}
	defer s.Close()
	err := s.exec(ctx, "INSTALL PLUGIN clone SONAME '"+clonePlugin+"'")
	var answer *mysql.MySQLError
	if errors.As(err, &answer) && answer.Number == pluginExists {
		err = nil
	}
	if err == nil {
		err = s.exec(ctx, "CLONE LOCAL DATA DIRECTORY = '"+c.data()+"'")
	}
	if err != nil {
		return errors.Join(fmt.Errorf("clone: %w", err), c.Close())
	}
	return nil
}

// runBackup has mariadb-backup copy a MariaDB.
// https://mariadb.com/docs/server/server-usage/backup-and-restore/mariadb-backup/mariadb-backup-options
func (b *private) runBackup(ctx context.Context, c *copying) error {
	command, err := b.in.client(mariadbBackup)
	if err != nil {
		return errors.Join(err, c.Close())
	}
	cfg := b.Config()
	command = append(command[:len(command):len(command)], "--no-defaults", "--backup", "--skip-ssl", "--user="+cfg.User,
		"--socket="+cfg.Addr, "--datadir="+filepath.Join(b.instance().folder.path, "data"), "--target-dir="+c.data())
	if cfg.Passwd != "" {
		command = append(command, "--password="+cfg.Passwd)
	}
	return c.runs(ctx, command)
}

// startCopy starts a server on a copy. What mariadb-backup has copied must be prepared first: the files are not
// consistent with each other until the log was applied.
func (b *private) startCopy(ctx context.Context, f *folder) (harness.Backend, error) {
	if b.in.family == history.MariaDB {
		command, err := b.in.client(mariadbBackup)
		if err != nil {
			f.remove()
			return nil, err
		}
		c := &copying{folder: f}
		command = append(command[:len(command):len(command)], "--no-defaults", "--prepare", "--target-dir="+c.data())
		err = c.runs(ctx, command)
		if err == nil {
			err = c.free()
		}
		if err != nil {
			return nil, err
		}
	}
	again := &private{spec: b.spec, in: b.in, parent: filepath.Dir(f.path), copied: b.copied, extra: b.extra}
	p, server, err := again.launch(ctx, f)
	if err != nil {
		return nil, err
	}
	again.current, again.server = p, server
	return again, nil
}
