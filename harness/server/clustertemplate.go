package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// clusterArguments make a data directory whose superuser needs no password: only this user reaches
// the socket. initdb knows each from a version on. The segments of the log are small, so that little
// is to be copied.
var clusterArguments = []struct{ since, argument string }{
	{"10", "--username=" + clusterUser}, {"10", "--auth=trust"}, {"10", "--encoding=UTF8"}, {"10", "--locale=C"},
	{"10", "--no-sync"}, {"11", "--wal-segsize=1"}, {"14", "--no-instructions"},
}

// clusterTemplate returns a data directory to copy for new instances; it is built on first use, which
// takes a second.
func (in installation) clusterTemplate(ctx context.Context, owner *account, progress io.Writer) (string, error) {
	var args []string
	for _, a := range clusterArguments {
		if atLeast(in.version, a.since) {
			args = append(args, a.argument)
		}
	}
	return in.kept(ctx, in.templateName(args), progress, func(ctx context.Context, dir, path string) error {
		parent := base(512 << 20)
		sweep(parent)
		f, err := newFolder(parent)
		if err != nil {
			return err
		}
		f.owner = owner
		if err := owner.owns(f.path); err != nil {
			f.remove()
			return fmt.Errorf("give a folder to the server's user: %w", err)
		}
		data := filepath.Join(f.path, "data")
		p, err := startProcess(f, os.DevNull, syscall.SIGQUIT, append([]string{in.initdb(), "-D", data}, args...))
		if err != nil {
			return err
		}
		defer p.close()
		if err := p.run(ctx); err != nil {
			return fmt.Errorf("%w:\n%s", err, p.log())
		}
		return keep(data, dir, path)
	})
}
