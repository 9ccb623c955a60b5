package load_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/load"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// tornDumps is a server whose dumps have the first half of their rows from one state and the others from a later one.
type tornDumps struct{ harness.Wired }

func (d tornDumps) CanDump() error { return d.Wired.(harness.Dumping).CanDump() }

func (d tornDumps) Dump(ctx context.Context, of harness.DumpOf) ([]byte, error) {
	var rows [2][][]byte
	for i := range rows {
		text, err := d.Wired.(harness.Dumping).Dump(ctx, of)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			if bytes.HasPrefix(line, []byte("INSERT")) {
				rows[i] = append(rows[i], line)
			}
		}
	}
	n := min(len(rows[0]), len(rows[1])) / 2
	return bytes.Join(append(rows[0][:n:n], rows[1][n:]...), nil), nil
}

// TestDumps: a dump that is one snapshot passes, and one that is none is found.
func TestDumps(t *testing.T) {
	for _, target := range installed(t, mysql97) {
		b := open(t, target, harness.Options{}).(harness.Wired)
		s := settings(t, target, "bank", corpus.RepeatableRead)
		s.Backup, s.Duration = load.DumpBackup, time.Second
		if dumps := backupsIn(t, b, s); dumps == 0 {
			t.Error("no dump in the history")
		}
		s.Workload, s.Duration = "chain", time.Second/2
		if r := run(t, b, s); r.Found() || r.Problem() != nil || r.Backups == 0 {
			t.Errorf("chain: %v\n%s", r.Problem(), textOf(t, r))
		}
		s.Workload, s.Duration = "bank", 10*time.Second
		s.UntilFound = true
		r, err := load.Run(t.Context(), tornDumps{b}, s)
		s.UntilFound = false
		if err != nil || !r.Found() || r.Findings[0].Kind != "wrong-total" {
			t.Errorf("torn dumps: %v\n%s", err, textOf(t, r))
		}
		refuses(t, b, s)
	}
}

// refuses: what a MySQL cannot be backed up by is said before anything is done.
func refuses(t *testing.T, b harness.Wired, s load.Settings) {
	t.Helper()
	for _, c := range []struct {
		way, workload, says string
		b                   harness.Backend
	}{
		{"dump", "index", "workload index gives no history", b},
		{"clone", "queue", "workload queue gives no history", b},
		{"mariadb-backup", "bank", "mariadb-backup is of mariadb; the files of a mysql are copied by clone", b},
		{"pg_basebackup", "bank", "pg_basebackup is of postgres; the files of a mysql", b},
		{"clone", "bank", "only private servers", tornDumps{b}},
	} {
		var err error
		if s.Backup, err = load.ParseBackup(c.way); err != nil {
			t.Fatal(err)
		}
		s.Workload = c.workload
		var refused *load.SettingError
		if _, err := load.Run(t.Context(), c.b, s); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s of %s: %v", c.way, c.workload, err)
		}
	}
	if _, err := load.ParseBackup("xtrabackup"); err == nil || !strings.Contains(err.Error(), load.BackupNames) {
		t.Errorf("xtrabackup: %v", err)
	}
}

// backupsIn runs a load that must find nothing, and returns how many backups its history has.
func backupsIn(t *testing.T, b harness.Backend, s load.Settings) (backups int) {
	t.Helper()
	var out bytes.Buffer
	s.History = &out
	if r := run(t, b, s); r.Found() || r.Problem() != nil || r.Backups == 0 || r.BackupSeconds <= 0 {
		t.Errorf("%s: %v\n%s", s.Backup, r.Problem(), textOf(t, r))
	}
	src, err := kv.ReadJSONLines("out", &out)
	if err != nil {
		t.Fatal(err)
	}
	h, err := kv.Load("out", src)
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.Len() {
		if h.Node(i) == string(s.Backup) {
			backups++
		}
	}
	return backups
}

// spoilt is a PostgreSQL on whose copies statements are run before they are read.
type spoilt struct {
	database
	sql []string
}

type database interface {
	harness.Database
	harness.Copying
	Close() error
}

func (x spoilt) Copy(ctx context.Context, m harness.CopyMethod) (harness.DataCopy, error) {
	c, err := x.database.Copy(ctx, m)
	return spoiltCopy{c, x.sql}, err
}

type spoiltCopy struct {
	harness.DataCopy
	sql []string
}

func (c spoiltCopy) Start(ctx context.Context) (harness.Backend, error) {
	b, err := c.DataCopy.Start(ctx)
	if err != nil {
		return nil, err
	}
	s, err := b.(harness.Database).Open(ctx, false)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	const enter = "DO $$ BEGIN EXECUTE (SELECT 'SET search_path = ' || table_schema FROM information_schema.tables " +
		"WHERE table_name IN ('account', 'append_list')); END $$"
	for _, sql := range append([]string{enter}, c.sql...) {
		if r, err := s.Execute(sql); err != nil || r.Err != nil {
			return nil, fmt.Errorf("%s: %w %v", sql, err, r.Err)
		}
	}
	return b, nil
}

// TestCopies: what servers copied themselves passes, in each way, and a copy from which something is missing is found.
func TestCopies(t *testing.T) {
	for _, c := range []struct {
		target, workload string
		way              harness.CopyMethod
	}{
		{mysql97, "append", harness.MySQLClone},
		{mariadb11, "register", harness.MariaDBBackup},
		{postgres18, "bank", harness.BaseBackup},
	} {
		for _, target := range installed(t, c.target) {
			t.Run(string(c.way), func(t *testing.T) {
				t.Parallel()
				b := open(t, target, harness.Options{Copied: true})
				if err := b.(harness.Copying).CanCopy(c.way); err != nil && os.Getenv("TXNFUZZ_REQUIRE_SERVERS") == "" {
					t.Skip(err)
				}
				s := settings(t, target, c.workload, corpus.RepeatableRead)
				s.Backup, s.Duration = load.Backup(c.way), time.Second
				if copies := backupsIn(t, b, s); copies == 0 {
					t.Errorf("no %s in the history", c.way)
				}
				if c.target != mysql97 { // TestDumps has that
					s.Backup, s.Workload = load.DumpBackup, "bank"
					if dumps := backupsIn(t, b, s); dumps == 0 {
						t.Error("no dump in the history")
					}
					s.Backup = load.Backup(c.way)
				}
				if c.way == harness.BaseBackup {
					findsLies(t, b.(database), s)
				}
			})
		}
	}
}

func findsLies(t *testing.T, b database, s load.Settings) {
	for _, lie := range []struct{ workload, sql, kind string }{
		{"bank", "UPDATE account SET balance = balance + 1 WHERE k = 1", "wrong-total"},
		{"append", "UPDATE append_list SET val = ''", "G-single-item-realtime"},
		{"append", "DROP TABLE append_list", load.KindBackup},
	} {
		s.Workload, s.Duration, s.UntilFound, s.Found = lie.workload, 10*time.Second, true, t.TempDir()
		r, err := load.Run(t.Context(), spoilt{b, []string{lie.sql}}, s)
		if err != nil || !slices.ContainsFunc(r.Findings, func(f load.Finding) bool { return f.Kind == lie.kind }) {
			t.Errorf("%s: %v\n%s", lie.sql, err, textOf(t, r))
		}
	}
}
