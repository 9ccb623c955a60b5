package server

import (
	"context"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// innodb is the kin of MySQL and MariaDB.
type innodb struct{ family history.DBMS }

func (k innodb) programs() []string {
	if k.family == history.MariaDB {
		return []string{"mariadbd", "mysqld"}
	}
	return []string{"mysqld"}
}

func (k innodb) place() string { return filepath.Join("usr", "sbin", k.programs()[0]) }

func (k innodb) unpacked(in *installation, root string) error {
	loader, libs, err := loaderOf(root)
	if err != nil {
		return err
	}
	in.prefix = filepath.Join(root, "usr")
	in.command = withLoader(loader, libs, in.binary)
	in.share = shareOf(in.prefix)
	in.plugins = filepath.Join(in.prefix, "lib", "mysql", "plugin")
	return nil
}

var innodbVersion = regexp.MustCompile(`\bVer (\d+\.\d+\.\d+\S*)`)

func (k innodb) version() ([]string, *regexp.Regexp) {
	return []string{"--no-defaults", "--version"}, innodbVersion
}

// made tells the two apart: MariaDB before 10.5 is called mysqld as well.
func (k innodb) made(version string) bool {
	return strings.Contains(version, "MariaDB") == (k.family == history.MariaDB)
}

func (innodb) durable() error { return nil }

func (innodb) solitary() bool { return false }

func (k innodb) template(ctx context.Context, in installation, progress io.Writer) (string, error) {
	return in.template(ctx, progress)
}

func (k innodb) command(b *private, dir string) ([]string, error) {
	command := append([]string{}, b.in.command...)
	command = append(command, b.in.where(dir)...)
	command = append(command, b.in.tuning()...)
	if b.durable {
		command = append(command, b.in.durable()...)
	}
	if b.copied {
		command = append(command, copiedLogs[b.in.family]...)
	}
	if b.power {
		command = append(command, powerArguments[b.in.family]...)
	}
	return append(append(command, b.in.chosen(b.spec)...), b.extra...), nil
}

func (k innodb) doors(b *private, dir string) ([]string, *mysql.Config, string, error) {
	if b.port == 0 {
		return nil, nil, "", nil
	}
	cfg := b.part.login
	if cfg == nil {
		cfg = portConfig(b.port)
	}
	listening := b.in.listening(b.port)
	if b.part.nodesOnly {
		listening = b.in.listeningToNodes(b.port)
	}
	if b.part.from != "" {
		listening = append(listening, "--bind-address=*") // of a network in which there are nodes only
	}
	if b.spec.joins.replicatesUsers() || b.part.back {
		return listening, cfg, "", nil
	}
	init, err := welcome(dir, cfg, b.from())
	if err != nil {
		return nil, nil, "", err
	}
	return append(listening, init), cfg, "", nil
}

func (k innodb) greet(ctx context.Context, b *private, s *side) error {
	if b.part.await != nil {
		if err := b.part.await(ctx, s); err != nil {
			return err
		}
	}
	if b.port == 0 {
		return nil
	}
	return onlyOurs(ctx, s, b.from())
}
