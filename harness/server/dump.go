package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

var (
	_ harness.Dumping = (*private)(nil)
	_ harness.Dumping = (*cluster)(nil)
)

// dumpPrograms are the vendors' programs, the first that is there counts, and the package of Debian that has them.
var dumpPrograms = map[history.DBMS]struct {
	names []string
	of    string
}{
	history.MySQL:      {[]string{"mysqldump"}, "mysql-client-core"},
	history.MariaDB:    {[]string{"mariadb-dump"}, "mariadb-client"},
	history.PostgreSQL: {[]string{"pg_dump"}, "postgresql-client"},
}

// dumper returns the command of the program that dumps, with the private loader before it if it lies in the same root
// as the server.
func (in installation) dumper() ([]string, error) {
	p := dumpPrograms[in.family]
	for _, name := range p.names {
		beside := filepath.Dir(in.binary)
		for _, folder := range []string{beside, filepath.Join(beside, "..", "bin")} {
			if file, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
				if len(in.command) > 1 {
					return append(in.command[:len(in.command)-1:len(in.command)-1], file), nil
				}
				return []string{file}, nil
			}
		}
		if file, err := exec.LookPath(name); err == nil {
			return []string{file}, nil
		}
	}
	return nil, fmt.Errorf("there is no %s beside %s, and none on the PATH: it is in package %s",
		strings.Join(p.names, " or "), in.binary, p.of)
}

// CanDump implements harness.Dumping.
func (b *private) CanDump() error { _, err := b.in.dumper(); return err }

// CanDump implements harness.Dumping.
func (b *cluster) CanDump() error { _, err := b.in.dumper(); return err }

// Dump implements harness.Dumping. https://dev.mysql.com/doc/refman/en/mysqldump.html
// https://mariadb.com/docs/server/clients-and-utilities/backup-restore-and-import-clients/mariadb-dump
func (b *private) Dump(ctx context.Context, d harness.DumpOf) ([]byte, error) {
	command, err := b.in.dumper()
	if err != nil {
		return nil, err
	}
	cfg := b.Config()
	args := append(command[1:len(command):len(command)], "--no-defaults", "--socket="+cfg.Addr, "--user="+cfg.User,
		"--single-transaction", "--no-create-info", "--skip-extended-insert", "--skip-triggers", "--skip-add-locks",
		"--no-tablespaces")
	if b.in.family == history.MySQL {
		args = append(args, "--set-gtid-purged=OFF", "--column-statistics=0")
	} else {
		args = append(args, "--skip-ssl")
	}
	cmd := exec.CommandContext(ctx, command[0], append(args, d.Place, d.Table)...)
	return dumped(cmd, b.instance().folder.path, "MYSQL_PWD="+cfg.Passwd)
}

// Dump implements harness.Dumping. https://www.postgresql.org/docs/current/app-pgdump.html
func (b *cluster) Dump(ctx context.Context, d harness.DumpOf) ([]byte, error) {
	command, err := b.in.dumper()
	if err != nil {
		return nil, err
	}
	args := append(command[1:len(command):len(command)], "--data-only", "--inserts", "--table="+d.Place+"."+d.Table)
	if d.Serializable {
		args = append(args, "--serializable-deferrable")
	}
	return dumped(exec.CommandContext(ctx, command[0], append(args, b.URL())...), b.instance().folder.path)
}

func dumped(cmd *exec.Cmd, home string, more ...string) ([]byte, error) {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &said, append(environment(home), more...)
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Args[0]), err, strings.TrimSpace(said.String()))
	}
	return out.Bytes(), err
}
