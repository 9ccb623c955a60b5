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

// dumpPrograms are the vendors' programs that dump.
var dumpPrograms = map[history.DBMS]beside{
	history.MySQL:      {[]string{"mysqldump"}, "mysql-client-core"},
	history.MariaDB:    {[]string{"mariadb-dump"}, "mariadb-client (scripts/servers mariadb:11.8 has it)"},
	history.PostgreSQL: {[]string{"pg_dump"}, postgresPackage},
}

// beside is a program of the vendor's that comes with a server, or near it.
type beside struct {
	names []string // the first that is there counts
	of    string   // the package of Debian that has the program
}

// client returns the command of a program: beside the server, with the private loader before the program if both lie in
// the same root, or on the PATH.
func (in installation) client(p beside) ([]string, error) {
	for _, name := range p.names {
		near := filepath.Dir(in.binary)
		for _, folder := range []string{near, filepath.Join(near, "..", "bin")} {
			if file, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
				if len(in.command) > 1 {
					return append(in.command[:len(in.command)-1:len(in.command)-1], file), nil
				}
				return []string{file}, nil
			}
		}
		if in.family == history.PostgreSQL {
			if command := in.unpackedClient(name); command != nil {
				return command, nil
			}
		}
		if file, err := exec.LookPath(name); err == nil {
			return []string{file}, nil
		}
	}
	return nil, fmt.Errorf("there is no %s beside %s, and none on the PATH: it is in package %s",
		strings.Join(p.names, " or "), in.binary, p.of)
}

// postgresClient is what scripts/servers installs of PostgreSQL's programs for clients, of which the npm package has
// none. They work with older servers, too. https://www.postgresql.org/docs/current/app-pgbasebackup.html
const (
	postgresClient  = "18"
	postgresPackage = "postgresql-client (scripts/servers pg-client:" + postgresClient + " has it)"
)

// unpackedClient returns the command of such a program; nil: it is not installed, or older than the server.
func (in installation) unpackedClient(name string) []string {
	if history.VersionNumbers(in.version)[0] > history.VersionNumbers(postgresClient)[0] {
		return nil
	}
	cache, err := cacheFolder()
	if err != nil {
		return nil
	}
	root := filepath.Join(cache, "servers", "pg-client-"+postgresClient)
	file, err := exec.LookPath(filepath.Join(root, "usr/lib/postgresql", postgresClient, "bin", name))
	if err != nil {
		return nil
	}
	loader, libs, err := loaderOf(root)
	if err != nil {
		return nil
	}
	return withLoader(loader, libs, file)
}

// dumper returns the command of the program that dumps.
func (in installation) dumper() ([]string, error) { return in.client(dumpPrograms[in.family]) }

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
