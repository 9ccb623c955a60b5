package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/harness"
)

// copierEnv makes the test binary a process that copies a server, starts another one on a second copy if that takes
// little time, and waits to be killed: the target, the way and the folder of all.
const copierEnv = "TXNFUZZ_TEST_COPIER"

func copyAndWait(args []string) {
	if err := copyOnce(context.Background(), args[0], harness.CopyMethod(args[1]), args[2]); err != nil {
		fmt.Println("error:", strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
	fmt.Println("ready")
	select {}
}

func copyOnce(ctx context.Context, target string, m harness.CopyMethod, dir string) error {
	b, err := harness.Open(ctx, target, harness.Options{Dir: dir, Copied: true})
	if err != nil {
		return err
	}
	if _, err = b.(harness.Copying).Copy(ctx, m); err != nil || m == harness.MySQLClone {
		return err
	}
	c, err := b.(harness.Copying).Copy(ctx, m)
	if err != nil {
		return err
	}
	_, err = c.Start(ctx)
	return err
}

// copied are the targets that are copied in each way.
var copied = map[harness.CopyMethod]string{
	harness.MySQLClone: "mysql:9.7", harness.MariaDBBackup: "mariadb:11.8", harness.BaseBackup: "postgres:18",
}

// committed is what a server on a copy is asked, for what was committed before it was copied.
const committed = "SELECT a FROM txnfuzz_test.t"

// TestCopies: a copy holds what was committed before, does not change with the server that was copied, and goes away
// when it is closed, on a server and without one.
func TestCopies(t *testing.T) {
	for method, target := range copied {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			dir := shortDir(t)
			copiesOrSkip(t, target, method)
			b, err := harness.Open(t.Context(), target, harness.Options{Dir: dir, Copied: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
			one := asker(t, b)
			one("CREATE SCHEMA txnfuzz_test")
			one("CREATE TABLE txnfuzz_test.t (a INT PRIMARY KEY)")
			one("INSERT INTO txnfuzz_test.t VALUES (7)")
			c, err := b.(harness.Copying).Copy(t.Context(), method)
			if err != nil {
				t.Fatal(err)
			}
			one("INSERT INTO txnfuzz_test.t VALUES (8)")
			second, err := c.Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := asker(t, second)(committed); got != "7" {
				t.Errorf("the copy holds %q, want 7", got)
			}
			if second.Server().Version != b.Server().Version {
				t.Errorf("%s was copied to %s", b.Server().Version, second.Server().Version)
			}
			for key, value := range b.Server().Settings {
				if second.Server().Settings[key] != value {
					t.Errorf("%s is %s, and %s on the copy", key, value, second.Server().Settings[key])
				}
			}
			if err := second.Close(); err != nil {
				t.Error(err)
			}
			if c, err = b.(harness.Copying).Copy(t.Context(), method); err != nil {
				t.Fatal(err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("beside the server's folder there is still one of %v", left)
			}
			for other := range copied {
				if err := b.(harness.Copying).CanCopy(other); (err == nil) != (other == method) {
					t.Errorf("%s of %s: %v", other, target, err)
				}
			}
		})
	}
}

// TestUnfitCopies: a copy on which no server starts is told from a machine that cannot start one.
func TestUnfitCopies(t *testing.T) {
	for text, unfit := range map[string]bool{
		"start postgres 18.4: the server ended with exit status 1\nPANIC: could not locate a valid checkpoint record": true,
		"start postgres 18.4: the server died of signal 11 (segmentation fault)":                                      true,
		"start postgres 18.4: the server died of signal 9 (killed)":                                                   false,
		"mariadb-backup: the server ended with exit status 1\n[ERROR] Error 28: No space left on device":              false,
		"start mysql 9.7.4: no answer on its socket: context deadline exceeded":                                       false,
	} {
		f, err := newFolder(shortDir(t))
		if err != nil {
			t.Fatal(err)
		}
		c := &copying{folder: f, start: func(_ context.Context, f *folder) (harness.Backend, error) {
			f.remove()
			return nil, errors.New(text)
		}}
		var told *harness.CopyError
		if _, err := c.Start(t.Context()); errors.As(err, &told) != unfit {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestKilledCopier: copies and the servers on them end with the process that has made them, also when it is killed.
func TestKilledCopier(t *testing.T) {
	for method, target := range copied {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			copiesOrSkip(t, target, method)
			dir := shortDir(t)
			cmd, lines := again(t, copierEnv+"="+target+" "+string(method)+" "+dir)
			if !lines.Scan() || lines.Text() != "ready" {
				t.Fatal(lines.Text())
			}
			if left, _ := os.ReadDir(dir); len(left) < 2 {
				t.Fatalf("want the folders of a server and of copies, found %v", left)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			var left []os.DirEntry
			if !until(func() bool { left, _ = os.ReadDir(dir); return len(left) == 0 }) {
				t.Errorf("left are %v", left)
			}
			procs, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, p := range procs {
				if text, _ := os.ReadFile(p); strings.Contains(string(text), dir) {
					t.Errorf("a process is left: %q", text)
				}
			}
		})
	}
}

// copiesOrSkip skips a test if what copies a target is not installed, or the target.
func copiesOrSkip(t *testing.T, target string, m harness.CopyMethod) {
	t.Helper()
	s, err := parseSpec(target)
	if err != nil {
		t.Fatal(err)
	}
	in, err := find(t.Context(), s)
	if err == nil {
		switch m {
		case harness.MariaDBBackup:
			_, err = in.client(mariadbBackup)
		case harness.BaseBackup:
			_, err = in.client(baseBackup)
		}
	}
	if err != nil && os.Getenv("TXNFUZZ_REQUIRE_SERVERS") != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
}

// asker opens a session that returns the first value of each answer.
func asker(t *testing.T, b harness.Backend) func(sql string) string {
	t.Helper()
	if d, ok := b.(harness.Database); ok {
		s, err := d.(*cluster).connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return func(sql string) string {
			rows, err := s.Query(sql)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			var values []string
			for _, r := range rows {
				values = append(values, r[0].Text)
			}
			return strings.Join(values, " ")
		}
	}
	s := sideOf(t, b.(dialer))
	return func(sql string) string {
		rows, err := s.query(t.Context(), sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		var values []string
		for _, r := range rows {
			values = append(values, string(r[0]))
		}
		return strings.Join(values, " ")
	}
}
