package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

var (
	_ harness.Copying = (*private)(nil)
	_ harness.Copying = (*cluster)(nil)
)

// copyMethods tells of which servers each way is.
var copyMethods = map[harness.CopyMethod]history.DBMS{
	harness.MySQLClone: history.MySQL, harness.MariaDBBackup: history.MariaDB, harness.BaseBackup: history.PostgreSQL,
}

// copiesOf fails where a way is not one of a family.
func copiesOf(family history.DBMS, m harness.CopyMethod) error {
	of := copyMethods[m]
	if of == family {
		return nil
	}
	for other, by := range copyMethods {
		if by == family {
			return fmt.Errorf("%s is of %s; the files of a %s are copied by %s", m, nameOf(of), nameOf(family), other)
		}
	}
	return fmt.Errorf("%s is of %s; no files of a %s are copied", m, nameOf(of), nameOf(family))
}

// copying is a folder that is being filled, or is filled, with the data of a server that works. Until a server runs in
// it a process holds it, whose watchdog removes the folder if this process dies.
type copying struct {
	folder *folder
	holder *process
	// start starts a server in the folder, which it takes over, also when it fails.
	start func(context.Context, *folder) (harness.Backend, error)
}

// copyRoom is what a copy may need beyond twice the bytes that are copied: logs and what recovery makes.
const copyRoom = 256 << 20

// newCopying makes an empty folder for a copy of what lies in data: beside the server's if there is room, else in the
// temporary folder.
func newCopying(data, parent string, owner *account) (*copying, error) {
	var st syscall.Statfs_t
	if syscall.Statfs(parent, &st) == nil && int64(st.Bavail)*st.Bsize < 2*sizeOf(data)+copyRoom {
		parent = os.TempDir()
	}
	f, err := newFolder(parent)
	if err != nil {
		return nil, err
	}
	f.owner = owner
	if err := owner.owns(f.path); err != nil {
		f.remove()
		return nil, fmt.Errorf("make a folder for a copy: %w", err)
	}
	return &copying{folder: f}, nil
}

// data is the data directory in the folder, which the copier makes.
func (c *copying) data() string { return filepath.Join(c.folder.path, "data") }

// runs has a program work in the folder until it ends by itself. Behind an error nothing is left.
func (c *copying) runs(ctx context.Context, command []string) error {
	if err := c.hold(command); err != nil {
		return err
	}
	if err := c.holder.run(ctx); err != nil {
		said := strings.TrimRight(tail(filepath.Join(c.folder.path, outputName)), "\n")
		return errors.Join(fmt.Errorf("%s: %w\n%s", programIn(command), err, said), c.Close())
	}
	return nil
}

// programIn names the program of a command, before which a loader and its arguments may stand.
func programIn(command []string) string {
	if len(command) > 3 && command[1] == "--library-path" {
		return filepath.Base(command[3])
	}
	return filepath.Base(command[0])
}

// hold has another process hold the folder. Behind an error nothing is left.
func (c *copying) hold(command []string) (err error) {
	if err := c.free(); err != nil {
		return err
	}
	c.holder, err = startProcess(c.folder, os.DevNull, syscall.SIGKILL, command)
	return err
}

// free ends the holder; the folder stays.
func (c *copying) free() error {
	if c.holder == nil {
		return nil
	}
	err := c.holder.kill()
	if err != nil {
		return errors.Join(err, c.Close())
	}
	c.holder.killed, c.holder = false, nil
	return nil
}

// waits is a command that does nothing but hold a folder: what fills the folder is a server, in a statement.
var waits = []string{"/bin/sleep", "3600"}

// Start implements harness.DataCopy.
func (c *copying) Start(ctx context.Context) (harness.Backend, error) {
	if err := c.free(); err != nil {
		return nil, err
	}
	b, err := c.start(ctx, c.folder)
	if err != nil && ctx.Err() == nil && !ofMachine(err) {
		return nil, &harness.CopyError{Err: err}
	}
	return b, err
}

// shortages are what programs write, or how they end, when the machine lacks something or somebody ends them.
var shortages = []string{
	"No space left on device", "Cannot allocate memory", "Resource temporarily unavailable", "Too many open files",
	"died of signal 9 ", "watchdog was killed", "context deadline exceeded",
}

// ofMachine says that a failure tells of this machine, and nothing of a copy.
func ofMachine(err error) bool {
	text := err.Error()
	return slices.ContainsFunc(shortages, func(s string) bool { return strings.Contains(text, s) })
}

// Close implements harness.DataCopy.
func (c *copying) Close() error {
	if c.holder == nil {
		c.folder.remove()
		return nil
	}
	return c.holder.close()
}
