package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"
)

// watchdog starts a server and outlives everything but it and its owner. Only
// the owner holds the other end of descriptor 0, so it reads end of file when
// the owner closes it or dies in whatever way; then it kills the server and
// removes the folder, unless a line was written before: then the folder stays. It
// tells the server's pid and exit status on descriptor 3; descriptor 4 is the
// folder's lock.
//
// A second process reads the pipe while the first waits for the server, because
// the shell cannot do both. The parent of the server signals it, so the pid
// cannot have been given to somebody else.
//
// A server of several processes is asked to end them by a signal of its own first. One
// that is to be killed is not.
const watchdog = `
folder=$1 input=$2 end=$3
shift 3
exec 5<&0 </dev/null
"$@" <"$input" >"$folder/` + outputName + `" 2>&1 3>&- 4>&- 5<&- &
server=$!
trap '' HUP INT QUIT TERM PIPE
echo "$server" >&3
(
	exec 3>&-
	read -r _ <&5 && end=KILL
	if [ "$end" != KILL ]; then
		kill -"$end" "$server"
		kill -CONT "$server"
		n=0
		while [ $n -lt 160 ] && kill -0 "$server"; do
			sleep 0.05 4>&- 5<&-
			n=$((n + 1))
		done
	fi
	kill -KILL "$server"
) 2>/dev/null &
reader=$!
wait "$server"
echo "$?" >&3
exec 3>&-
kill -KILL "$reader" 2>/dev/null
keep=
while read -r _ <&5; do keep=1; done
[ -n "$keep" ] || rm -rf "$folder"
`

// process is a server program that ends with this one.
type process struct {
	tcp    *mysql.Config // where other clients reach it; nil: nowhere
	root   string        // root's password, if it needs one
	folder *folder
	pid    int

	leash  *os.File      // closing it ends the server and removes the folder
	exited chan struct{} // closed when the server has ended
	status int           // of the shell: 128 + signal; valid once exited is closed
	gone   chan struct{} // closed when the watchdog has ended too

	closing sync.Once
	killed  bool // by kill: the folder is ours to remove
	// after, if not nil, is called when the server has ended: a server may leave more than files.
	after func()
}

// startProcess runs command under a watchdog. It takes over the folder, also
// when it fails. input is the file that the command reads, end what ends it.
func startProcess(f *folder, input string, end syscall.Signal, command []string) (*process, error) {
	p := &process{folder: f, exited: make(chan struct{}), gone: make(chan struct{})}
	leashRead, leashWrite, err := os.Pipe()
	if err != nil {
		f.remove()
		return nil, fmt.Errorf("start a server: %w", err)
	}
	defer leashRead.Close()
	tellRead, tellWrite, err := os.Pipe()
	if err != nil {
		_ = leashWrite.Close()
		f.remove()
		return nil, fmt.Errorf("start a server: %w", err)
	}
	defer tellWrite.Close()

	cmd := exec.Command("/bin/sh", append([]string{"-c", watchdog, "txnfuzz-watchdog", f.path, input, signalNames[end]}, command...)...)
	cmd.Stdin = leashRead
	cmd.ExtraFiles = []*os.File{tellWrite, f.lock}
	cmd.Dir = "/" // keeps no mount busy
	cmd.Env = environment(f.path)
	// A session of its own: Ctrl-C reaches us, and we decide.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := f.owner.start(cmd); err != nil {
		_, _ = leashWrite.Close(), tellRead.Close()
		f.remove()
		return nil, fmt.Errorf("start a server's watchdog: %w", err)
	}
	p.leash = leashWrite
	told := bufio.NewReader(tellRead)
	if line, err := told.ReadString('\n'); err == nil {
		p.pid, _ = strconv.Atoi(strings.TrimSpace(line))
	}
	go func() {
		p.status = -1 // the watchdog itself was killed
		if line, err := told.ReadString('\n'); err == nil {
			p.status, _ = strconv.Atoi(strings.TrimSpace(line))
		} else if p.pid > 0 {
			killServers(f.path)
		}
		_ = tellRead.Close()
		close(p.exited)
		_ = cmd.Wait()
		close(p.gone)
	}()
	return p, nil
}

// signalNames are the names of the signals that end a server.
var signalNames = map[syscall.Signal]string{syscall.SIGKILL: "KILL", syscall.SIGQUIT: "QUIT"}

// environment is what a server gets to see of ours: nothing that could change
// what it does.
func environment(home string) []string {
	env := []string{
		"HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "LC_ALL=C", "TZ=UTC0",
		"PATH=" + filepath.Join(home, programsName) + ":/usr/sbin:/usr/bin:/sbin:/bin",
	}
	// A server on the PATH may live on libraries that only this tells it of,
	// and a sanitizer build takes its options from here.
	for _, name := range []string{"LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// close kills the server, removes its folder, and waits for both.
func (p *process) close() error {
	var err error
	p.closing.Do(func() {
		_ = p.leash.Close()
		select {
		case <-p.gone:
		case <-time.After(20 * time.Second):
			err = fmt.Errorf("end the server with pid %d: its watchdog does not end", p.pid)
		}
		if p.after != nil {
			p.after()
		}
		// The watchdog removed it unless it was killed.
		if rm := os.RemoveAll(p.folder.path); rm != nil && err == nil {
			err = fmt.Errorf("remove a server's folder: %w", rm)
		}
		p.folder.release()
	})
	if p.killed {
		p.killed = false
		p.folder.remove()
	}
	return err
}

// kill ends the server with SIGKILL and waits for that; the folder stays, locked
// by this process. No clean shutdown: what the server had not written to its
// files is lost, what it had written and the system not yet is not.
func (p *process) kill() error {
	var err error
	p.closing.Do(func() {
		// One line for the reader, which kills the server. The watchdog waits for
		// the rest; should the server have ended by itself, it reads them all.
		_, err = p.leash.WriteString("keep\nkeep\nkeep\n")
		if e := p.leash.Close(); err == nil {
			err = e
		}
		if err != nil {
			err = fmt.Errorf("kill the server with pid %d: %w", p.pid, err)
			return
		}
		select {
		case <-p.gone:
		case <-time.After(20 * time.Second):
			err = fmt.Errorf("kill the server with pid %d: its watchdog does not end", p.pid)
		}
		if p.after != nil {
			p.after()
		}
		p.killed = err == nil
	})
	return err
}

// signal sends a signal to a server that runs.
func (p *process) signal(s syscall.Signal) error {
	if err := p.dead(); err != nil {
		return err
	}
	return syscall.Kill(p.pid, s)
}

// dead returns how the server ended, or nil while it runs.
func (p *process) dead() error {
	select {
	case <-p.exited:
	default:
		return nil
	}
	why := fmt.Sprintf("ended with exit status %d", p.status)
	switch {
	case p.status < 0:
		return errors.New("the server's watchdog was killed, and the server with it")
	case p.status > 128:
		why = fmt.Sprintf("died of signal %d (%s)", p.status-128, syscall.Signal(p.status-128))
	}
	// A server that catches its own crash ends with a status that says little.
	if words := lastWords(head(filepath.Join(p.folder.path, outputName))); words != "" {
		message, _, _ := strings.Cut(words, "\n")
		why += ": " + message
	} else if lines, _ := problemsSince(filepath.Join(p.folder.path, logName), 0); len(lines) > 0 {
		why += ": " + lines[0]
	}
	return errors.New("the server " + why)
}

// run waits until the server ends by itself, as it does when it has made a data directory, which others wait for: it
// may take as long as a start.
func (p *process) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	select {
	case <-p.exited:
	case <-ctx.Done():
		return fmt.Errorf("the server does not end: %w", ctx.Err())
	}
	if p.status != 0 {
		return p.dead()
	}
	return nil
}

// log returns the end of what the server wrote, its last words at the end.
func (p *process) log() string {
	output, log := filepath.Join(p.folder.path, outputName), tail(filepath.Join(p.folder.path, logName))
	if words := lastWords(head(output)); words != "" {
		return log + words
	}
	return tail(output) + log
}
