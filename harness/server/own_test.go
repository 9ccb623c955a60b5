package server

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func installed1011(t *testing.T) installation {
	t.Helper()
	in, err := unpacked(t.Context(), history.MariaDB, "10.11")
	if errors.Is(err, os.ErrNotExist) && os.Getenv("TXNFUZZ_REQUIRE_SERVERS") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// scripted puts a script at a path that runs the unpacked MariaDB 10.11 with
// its own loader, and returns what that server is.
func scripted(t *testing.T, path string) installation {
	t.Helper()
	in := installed1011(t)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nexec " + strings.Join(in.command, " ") + ` "$@"` + "\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return in
}

func link(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}

// TestOwnBuildsStart starts a server of each layout that a build can have, and asks
// it for its version.
func TestOwnBuildsStart(t *testing.T) {
	for name, layout := range map[string]func(t *testing.T, dir string) string{
		"build tree": func(t *testing.T, dir string) string {
			binary := filepath.Join(dir, "build", "sql", "mariadbd")
			in := scripted(t, binary)
			link(t, in.share, filepath.Join(dir, "build", "sql", "share"))
			link(t, filepath.Join(in.share, "charsets"), filepath.Join(dir, "source", "sql", "share", "charsets"))
			link(t, in.share, filepath.Join(dir, "build", "scripts"))
			cache := "# CMake\nCMAKE_HOME_DIRECTORY:INTERNAL=" + filepath.Join(dir, "source") + "\n"
			if err := os.WriteFile(filepath.Join(dir, "build", "CMakeCache.txt"), []byte(cache), 0o644); err != nil {
				t.Fatal(err)
			}
			return binary
		},
		"tarball": func(t *testing.T, dir string) string {
			binary := filepath.Join(dir, "bin", "mariadbd")
			in := scripted(t, binary)
			link(t, in.share, filepath.Join(dir, "share"))
			return binary
		},
		"folders given": func(t *testing.T, dir string) string {
			binary := filepath.Join(dir, "somewhere", "mariadbd")
			in := scripted(t, binary)
			return binary + ",share=" + in.share + ",plugins=" + in.share
		},
		"unpacked package": func(t *testing.T, _ string) string {
			return installed1011(t).binary
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", cacheHome(t))
			family, value, err := OwnBinary(t.Context(), layout(t, t.TempDir()))
			if err != nil || family != "mariadb" {
				t.Fatalf("%s, %v", family, err)
			}
			t.Setenv(harness.EnvBinary, value)
			b, err := harness.Open(context.Background(), "mariadb", harness.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if v := b.Server().Version; !strings.HasPrefix(v, "10.11.") {
				t.Errorf("version %s", v)
			}
			if _, err := harness.Open(context.Background(), "mariadb:11.8", harness.Options{}); err == nil || !strings.Contains(err.Error(), "not 11.8") {
				t.Errorf("another version: %v", err)
			}
			if _, err := harness.Open(context.Background(), "mysql", harness.Options{}); err == nil || !strings.Contains(err.Error(), "no mysql") {
				t.Errorf("another family: %v", err)
			}
		})
	}
}

// cacheHome returns where the user's cache is: the servers are in it.
func cacheHome(t *testing.T) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestOwnBuildsThatAreWrong(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	silent := filepath.Join(dir, "silent")
	for path, mode := range map[string]os.FileMode{text: 0o644, silent: 0o755} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho hello\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for arg, want := range map[string]string{
		filepath.Join(dir, "none"): "no such file",
		text:                       "no program that can be run",
		dir:                        "no program that can be run",
		silent:                     "no version in",
		silent + ",where=x":        `found "where=x"`,
		silent + ",share=/nowhere": "is no folder",
	} {
		_, _, err := OwnBinary(t.Context(), arg)
		var name *harness.NameError
		if !errors.As(err, &name) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arg, err, want)
		}
	}
}

// TestPort lets a client in by TCP with the drawn password, and no other.
func TestPort(t *testing.T) {
	for _, target := range []string{"mariadb:10.11", "mariadb:11.8", "mysql:9.7"} {
		t.Run(target, func(t *testing.T) {
			b, err := harness.Open(t.Context(), target, harness.Options{Port: freePort(t)})
			if errors.Is(err, os.ErrNotExist) && os.Getenv("TXNFUZZ_REQUIRE_SERVERS") == "" {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			testPort(t, b)
		})
	}
}

func testPort(t *testing.T, b harness.Backend) {
	cfg := b.(harness.Reachable).TCP()
	if err := ping(t, cfg.FormatDSN()); err != nil {
		t.Errorf("with the password: %v", err)
	}
	for _, user := range []string{"root", "root:", "txnfuzz", "txnfuzz:wrong", "", "mysql.sys"} {
		if err := ping(t, user+"@tcp("+cfg.Addr+")/"); err == nil {
			t.Errorf("%q gets in", user)
		}
	}
}

// freePort returns a port that nobody listens on. It is below those that Linux gives to connections, and to who listens
// on any port, since one of these would be taken again until a server has started.
// https://docs.kernel.org/networking/ip-sysctl.html (ip_local_port_range)
func freePort(t *testing.T) int {
	t.Helper()
	const from, upto = 15000, 32000
	for range 100 {
		port := from + rand.IntN(upto-from)
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("found no free port")
	return 0
}

func ping(t *testing.T, dsn string) error {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return db.PingContext(t.Context())
}
