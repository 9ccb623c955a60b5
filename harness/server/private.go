package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/harness/direct"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// startTimeout is generous: a start takes 0.1 to 0.9 s on an idle machine, the first one of a TiDB some seconds; where a
// dozen programs share two cores, more than a minute.
const startTimeout = 3 * time.Minute

// private is a server that this process started and that ends with it.
type private struct {
	spec     spec
	in       installation
	template string
	parent   string   // where the instances' folders go
	durable  bool     // keeps what it acknowledged when it is killed
	power    bool     // can lose its power, too
	copied   bool     // is to be copied while it works
	port     int      // where other clients reach it; 0: nowhere
	extra    []string // arguments of its part in a topology
	part     part     // what else a topology has it do
	server   history.Server

	running
}

// part is what a topology has a node of it do.
type part struct {
	// login is how clients of the port get in; nil: a password is drawn.
	login *mysql.Config
	// nodesOnly: no clients but other nodes come by the port.
	nodesOnly bool
	// prepare completes a folder before the server starts in it.
	prepare func(dir string) error
	// await returns when a server that answers is ready for clients.
	await func(ctx context.Context, s *side) error
	// enter stands before the command: it leads to the network that the server is to be in.
	enter []string
	// from are the hosts from which the user of the port comes; empty: this machine.
	from string
	// back: the server comes back to a topology with its data, which have the user of the port.
	back bool
	// resume returns the arguments with which a server begins where the one that was killed has ended.
	resume func(ctx context.Context, f *folder, command []string) ([]string, error)
	// asks are the settings to be told beside the usual ones.
	asks []string
}

// openPrivate starts a private instance for a target such as "mysql:9.7".
func openPrivate(ctx context.Context, target string, o harness.Options) (harness.Backend, error) {
	s, err := parseSpec(target)
	if err != nil {
		return nil, &harness.NameError{Err: err}
	}
	s.released = o.Released
	o.Durable = o.Durable || o.PowerLoss
	switch {
	case s.replicates != nil:
		return openPair(ctx, s, o)
	case s.joins != nil:
		return openMembers(ctx, s, o)
	case o.Partition:
		return nil, &harness.NameError{Err: errAlone}
	}
	return newPrivate(ctx, s, o, nil)
}

// newPrivate starts a private instance of a spec with further arguments.
func newPrivate(ctx context.Context, s spec, o harness.Options, extra []string) (*private, error) {
	b, err := prepared(ctx, s, o, extra)
	if err != nil {
		return nil, err
	}
	if err := b.begin(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

// prepared finds what a private instance is made of, which does not run yet.
func prepared(ctx context.Context, s spec, o harness.Options, extra []string) (*private, error) {
	if o.Durable {
		if err := kinOf(s.family).durable(); err != nil {
			return nil, err
		}
	}
	in, err := find(ctx, s)
	if err != nil {
		return nil, err
	}
	template, err := kinOf(in.family).template(ctx, in, o.Progress)
	if err != nil {
		return nil, err
	}
	return &private{spec: s, in: in, template: template, parent: o.Dir, durable: o.Durable, power: o.PowerLoss,
		copied: o.Copied, port: o.Port, extra: extra}, nil
}

// begin finds a place for a server that is not yet started, and starts it.
func (b *private) begin(ctx context.Context) (err error) {
	switch {
	case b.parent != "":
	case b.durable:
		if b.parent, err = diskBase(sizeOf(b.template) + durableRoom + roomForJournal(b.power)); err != nil {
			return err
		}
	default:
		// Room for the copy and for what the cases add to it.
		b.parent = base(2*sizeOf(b.template) + 128<<20)
	}
	sweep(b.parent)
	p, server, err := b.start(ctx)
	if err != nil {
		return err
	}
	b.current, b.server = p, server
	return nil
}

// sizeOf returns the number of bytes in the files below dir.
func sizeOf(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// start makes a new instance and waits until it answers.
func (b *private) start(ctx context.Context) (*process, history.Server, error) {
	f, err := newFolder(b.parent)
	if err != nil {
		return nil, history.Server{}, err
	}
	if b.template != "" {
		if err := copyTree(b.template, filepath.Join(f.path, "data")); err != nil {
			f.remove()
			return nil, history.Server{}, fmt.Errorf("copy the data directory: %w", err)
		}
	}
	if b.power {
		if err := f.keepJournal(ctx); err != nil {
			f.remove()
			return nil, history.Server{}, err
		}
	}
	return b.launch(ctx, f)
}

// launch starts the server on the data in a folder, which it takes over, and
// waits until it answers.
func (b *private) launch(ctx context.Context, f *folder) (*process, history.Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if b.part.prepare != nil {
		if err := b.part.prepare(f.path); err != nil {
			f.remove()
			return nil, history.Server{}, err
		}
	}
	if err := f.rearm(); err != nil {
		f.remove()
		return nil, history.Server{}, err
	}
	k := kinOf(b.in.family)
	command, err := k.command(b, f.path)
	if err != nil {
		f.remove()
		return nil, history.Server{}, err
	}
	doors, tcp, root, err := k.doors(b, f.path)
	if err != nil {
		f.remove()
		return nil, history.Server{}, err
	}
	command = slices.Concat(b.part.enter, f.journalling(), command, doors)
	if b.part.resume != nil {
		more, err := b.part.resume(ctx, f, command)
		if err != nil {
			return nil, history.Server{}, err
		}
		command = append(command, more...)
	}
	p, err := startProcess(f, os.DevNull, syscall.SIGKILL, command)
	if err != nil {
		return nil, history.Server{}, err
	}
	p.tcp, p.root = tcp, root
	server, err := b.ready(ctx, p)
	if err == nil {
		err = b.spec.refused(server.Settings)
	} else if why := b.spec.unknown(p.log()); why != nil {
		err = why
	}
	var name *harness.NameError
	if errors.As(err, &name) {
		_ = p.close()
		return nil, history.Server{}, fmt.Errorf("%s %s: %w", b.in.family, b.in.version, err)
	}
	if err != nil {
		text := p.log()
		_ = p.close()
		return nil, history.Server{}, fmt.Errorf("start %s %s: %w\n%s", b.in.family, b.in.version, err, strings.TrimRight(text, "\n"))
	}
	return p, server, nil
}

// ready waits for the first answer of a new instance.
func (b *private) ready(ctx context.Context, p *process) (history.Server, error) {
	s := &side{to: p.socket()}
	defer s.Close()
	for {
		// The socket appears shortly before the server accepts connections.
		err := s.connect(ctx)
		if err == nil {
			if err := kinOf(b.in.family).greet(ctx, b, s); err != nil {
				return history.Server{}, err
			}
			return identify(ctx, s, slices.Concat(b.telling(), b.part.asks)...)
		}
		var answer *mysql.MySQLError
		if errors.As(err, &answer) {
			return history.Server{}, err
		}
		select {
		case <-p.exited:
			return history.Server{}, p.dead()
		case <-ctx.Done():
			return history.Server{}, fmt.Errorf("no answer on its socket: %w", ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (p *process) socket() socket { return socket{filepath.Join(p.folder.path, socketName), p.root} }

// socket is the path of a unix socket, and the password that root needs there, if any.
type socket struct{ path, root string }

func (s socket) Config() *mysql.Config {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = "root", s.root, "unix", s.path
	cfg.Logger = &mysql.NopLogger{} // broken connections come back as errors
	return cfg
}

func (s socket) Dial(ctx context.Context) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "unix", s.path)
	if err != nil {
		return nil, err
	}
	return direct.New(c), nil
}

func (b *private) Server() history.Server { return b.server }

// Levels returns what the server offers.
func (b *private) Levels() []corpus.Level { return levelsOf(b.server.DBMS) }

// Solitary implements harness.Solitary.
func (b *private) Solitary() bool { return kinOf(b.in.family).solitary() }

func (b *private) Config() *mysql.Config { return b.instance().socket().Config() }

func (b *private) Dial(ctx context.Context) (net.Conn, error) {
	p := b.instance()
	conn, err := p.socket().Dial(ctx)
	if err != nil {
		if dead := p.dead(); dead != nil {
			err = dead
		}
		return nil, fmt.Errorf("connect to %s %s: %w", b.in.family, b.in.version, err)
	}
	return conn, nil
}

func (b *private) Prober(ctx context.Context) (harness.Prober, error) {
	return newProber(ctx, b, methodFor(b.server), b.instance().pid)
}

// Alive tells how the server died, or why it does not answer.
func (b *private) Alive(ctx context.Context) error {
	p := b.instance()
	s := &side{to: p.socket()}
	defer s.Close()
	_, err := s.query(ctx, "SELECT 1")
	if err == nil {
		return nil
	}
	return p.whyDead(ctx, err)
}

// Restart replaces the instance, dead or alive, by a fresh one with empty
// tables. Connections to the old one break.
func (b *private) Restart(ctx context.Context) error { return b.restart(ctx, b.start) }
