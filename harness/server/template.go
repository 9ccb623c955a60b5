package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/txnfuzz/txnfuzz/harness/filelock"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const makingPrefix = ".making-"

// template returns a data directory to copy for new instances; it is built on
// first use, which takes 0.5 s for MariaDB and 3 s for MySQL.
func (in installation) template(ctx context.Context, progress io.Writer) (string, error) {
	return in.kept(ctx, in.templateName(in.tuning()), progress, in.build)
}

// kept returns the data directory of a name that is kept in the cache. build makes it as path in the
// folder dir where it is not there yet.
func (in installation) kept(ctx context.Context, name string, progress io.Writer,
	build func(ctx context.Context, dir, path string) error) (string, error) {
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "templates")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of templates: %w", err)
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	unlock, err := filelock.Wait(ctx, filepath.Join(dir, ".lock"), nil)
	if err != nil {
		return "", fmt.Errorf("wait for another process that builds a template: %w", err)
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	// The lock is ours: what is being made there was abandoned.
	for _, old := range abandonedTemplates(dir) {
		_ = os.RemoveAll(old)
	}
	if progress != nil {
		fmt.Fprintf(progress, "making a data directory for %s %s\n", in.family, in.version)
	}
	if err := build(ctx, dir, path); err != nil {
		return "", fmt.Errorf("make a data directory for %s %s: %w", in.family, in.version, err)
	}
	return path, nil
}

func abandonedTemplates(dir string) []string {
	old, _ := filepath.Glob(filepath.Join(dir, makingPrefix+"*"))
	return old
}

// templateName differs wherever a data directory would.
func (in installation) templateName(arguments []string) string {
	h := sha256.New()
	fmt.Fprintln(h, in.binary, in.version, arguments)
	if info, err := os.Stat(in.binary); err == nil && in.own {
		fmt.Fprintln(h, info.Size(), info.ModTime().UnixNano()) // it is built again and again
	}
	return fmt.Sprintf("%s-%s-%s", in.family, in.version, hex.EncodeToString(h.Sum(nil)[:4]))
}

func (in installation) build(ctx context.Context, dir, path string) error {
	// On shared memory: on a disk MySQL takes up to ten times as long.
	parent := base(512 << 20)
	sweep(parent)
	f, err := newFolder(parent)
	if err != nil {
		return err
	}
	data := filepath.Join(f.path, "data")
	input, args, err := in.initialize(f.path)
	if err != nil {
		f.remove()
		return err
	}
	p, err := startProcess(f, input, syscall.SIGKILL, append(in.command[:len(in.command):len(in.command)], args...))
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.run(ctx); err != nil {
		return fmt.Errorf("%w:\n%s", err, p.log())
	}
	return keep(data, dir, path)
}

// unshared are the files of a MySQL or MariaDB that an instance must not share with others.
var unshared = []string{"*.pem", "auto.cnf", "ib_buffer_pool", "aria_log_control.lock", "galera.cache", "gvwstate.dat"}

// keep copies a data directory to path in dir, all at once, but for what is unshared, which it removes.
func keep(data, dir, path string) error {
	for _, pattern := range unshared {
		found, _ := filepath.Glob(filepath.Join(data, pattern))
		for _, name := range found {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	making, err := os.MkdirTemp(dir, makingPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(making)
	copied := filepath.Join(making, "data")
	if err := copyTree(data, copied); err != nil {
		return err
	}
	return os.Rename(copied, path)
}

// initialize returns the arguments that make a data directory in dir, with a
// root that has no password: only this user reaches the socket.
func (in installation) initialize(dir string) (input string, args []string, err error) {
	args = append(in.where(dir), in.tuning()...)
	if in.family == history.MySQL {
		return os.DevNull, append(args, "--skip-log-bin", "--performance-schema=OFF", "--initialize-insecure"), nil
	}
	input = filepath.Join(dir, "bootstrap.sql")
	script, err := in.bootstrapScript()
	if err != nil {
		return "", nil, err
	}
	if err := os.WriteFile(input, script, 0o600); err != nil {
		return "", nil, err
	}
	for _, db := range []string{"mysql", "test"} {
		if err := os.MkdirAll(filepath.Join(dir, "data", db), 0o700); err != nil {
			return "", nil, err
		}
	}
	// A clean shutdown, or each instance would begin with a recovery.
	return input, append(args, "--skip-log-bin", "--bootstrap", "--silent-startup", "--innodb-fast-shutdown=0"), nil
}

// bootstrapScript joins the scripts that MariaDB ships for its system tables.
// Their names changed in 11.0.
func (in installation) bootstrapScript() ([]byte, error) {
	if in.share == "" {
		return nil, fmt.Errorf("no folder share/mariadb or share/mysql with its system tables in %s", in.prefix)
	}
	folders := in.scripts
	if len(folders) == 0 {
		folders = []string{in.share}
	}
	for _, family := range []string{"mariadb", "mysql"} {
		var script strings.Builder
		script.WriteString("USE mysql;\n")
		missing := false
		for _, name := range []string{"system_tables", "performance_tables", "system_tables_data"} {
			text, err := readFirst(folders, family+"_"+name+".sql")
			if errors.Is(err, fs.ErrNotExist) {
				missing = true
				break
			}
			if err != nil {
				return nil, err
			}
			script.Write(text)
		}
		if !missing {
			return []byte(script.String()), nil
		}
	}
	return nil, fmt.Errorf("no scripts for the system tables in %s", strings.Join(folders, ", "))
}

// readFirst reads a file from the first folder that has it.
func readFirst(folders []string, name string) ([]byte, error) {
	for _, dir := range folders {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if !errors.Is(err, fs.ErrNotExist) {
			return text, err
		}
	}
	return nil, fs.ErrNotExist
}

// copyTree copies a data directory. Blocks of zeros become holes: on shared
// memory they would cost memory, and a third of a fresh data directory is such.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.Mkdir(target, 0o700)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		return copySparse(path, target)
	})
}

func copySparse(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	var buf [64 << 10]byte
	var zero [len(buf)]byte
	var at int64
	for {
		n, err := io.ReadFull(in, buf[:])
		if n > 0 && string(buf[:n]) != string(zero[:n]) {
			if _, err := out.WriteAt(buf[:n], at); err != nil {
				return err
			}
		}
		at += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := out.Truncate(at); err != nil {
		return err
	}
	return out.Close()
}
