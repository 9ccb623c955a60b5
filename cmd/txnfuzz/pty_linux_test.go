package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// terminal is the master side of a pseudo-terminal with a program on it.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	out    chan string
	seen   string // not yet expected
	all    strings.Builder
}

// ioctl numbers of Linux: unlock the slave side, and ask for its number.
const (
	tiocSPTLCK = 0x40045431
	tiocGPTN   = 0x80045430
)

func ioctl(f *os.File, request uintptr, arg *int32) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var errno syscall.Errno
	err = conn.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(arg)))
	})
	if err == nil && errno != 0 {
		err = errno
	}
	return err
}

// onTerminal starts a program with a terminal of its own.
func onTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	master, slave := openTerminal(t, 80, 24)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	x := &terminal{t: t, master: master, cmd: cmd, out: make(chan string, 64)}
	go func() {
		defer close(x.out)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if n > 0 {
				x.out <- string(buf[:n])
			}
			if err != nil {
				return // EIO: the program has gone
			}
		}
	}()
	return x
}

// expect waits until a text appears. The time is for a hung program only.
func (x *terminal) expect(want string) {
	x.t.Helper()
	limit := time.After(2 * time.Minute)
	for !strings.Contains(x.seen, want) {
		select {
		case s, ok := <-x.out:
			if !ok {
				x.t.Fatalf("ended without %q:\n%s", want, x.all.String())
			}
			s = strings.ReplaceAll(s, "\r", "")
			x.seen += s
			x.all.WriteString(s)
		case <-limit:
			x.t.Fatalf("no %q:\n%s", want, x.all.String())
		}
	}
	_, x.seen, _ = strings.Cut(x.seen, want)
}

func (x *terminal) send(text string) {
	x.t.Helper()
	if _, err := x.master.WriteString(text); err != nil {
		x.t.Fatal(err)
	}
}

// end waits for the program to end.
func (x *terminal) end() {
	x.t.Helper()
	for range x.out { // what is left unread
	}
	if err := x.cmd.Wait(); err != nil {
		x.t.Errorf("the program's end: %v\n%s", err, x.all.String())
	}
}

func TestShellOnATerminal(t *testing.T) {
	t.Parallel()
	for target, verdict := range shellTargets(t) {
		t.Run(target, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "typed.sql")
			x := onTerminal(t, command(t, "shell", target))
			x.expect("init> ")
			answers := []string{
				"ok", "ok", "ok", "tx1: ok", "tx2: ok", "tx1: 1 matched, 1 changed", "tx2: blocked by 1",
				"tx1: 1 matched, 1 changed", "tx2: resumed: ", "tx2: ", "tx2: ok",
			}
			for i, line := range typed27992 {
				x.send(line + "\n")
				x.expect(line + "\n") // the terminal's own echo, once
				x.expect(answers[i])
				x.expect("> ")
			}
			x.send("check\n")
			x.expect("verdict: " + verdict + "\n")
			x.expect("> ")
			x.send("save " + file + "\n")
			x.expect("saved " + file + "\n")
			x.expect("> ")
			x.send("\x04") // end of input
			x.end()
			got := txnfuzz(t, "replay", file, "--target", target)
			if want, _, _ := strings.Cut(verdict, " "); got.code != 0 || !strings.Contains(got.stdout, want) {
				t.Errorf("replayed, status %d: %s%s", got.code, got.stdout, got.stderr)
			}
		})
	}
}

// A statement that the server ends of its own accord is told while the prompt
// waits for input.
func TestShellTellsWithoutBeingAsked(t *testing.T) {
	t.Parallel()
	var target string
	for name := range shellTargets(t) {
		target = max(target, name)
	}
	x := onTerminal(t, command(t, "shell", target))
	for _, line := range [][2]string{
		{"CREATE TABLE t (a INT)", "ok\n"}, {"INSERT INTO t VALUES (1)", "ok\n"},
		{"2> SET SESSION innodb_lock_wait_timeout = 1", "tx2: ok\n"},
		{"1> BEGIN", "tx1: ok\n"}, {"DELETE FROM t", "tx1: 1 affected\n"}, {"2> DELETE FROM t", "tx2: blocked by 1\n"},
	} {
		x.expect("> ")
		x.send(line[0] + "\n")
		x.expect(line[1])
	}
	x.expect("2> ")
	x.expect("\ntx2: resumed: error 1205")
	x.expect("2> ")
	x.send("1> COMMIT\n")
	x.expect("tx1: ok\n")
	x.expect("> ")
	x.send("quit\n")
	x.end()
}

// Ctrl-C ends the shell and its server, also while a statement waits.
func TestShellInterrupted(t *testing.T) {
	t.Parallel()
	var target string
	for name := range shellTargets(t) {
		target = max(target, name)
	}
	x := onTerminal(t, command(t, "shell", target))
	for _, line := range []string{"CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)", "1> BEGIN", "DELETE FROM t", "2> DELETE FROM t"} {
		x.expect("> ")
		x.send(line + "\n")
	}
	x.expect("blocked by 1\n2> ")
	x.send("\x03")
	for range x.out { // what is left unread
	}
	if err := x.cmd.Wait(); err == nil || x.cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("the end: %v, status %d\n%s", err, x.cmd.ProcessState.ExitCode(), x.all.String())
	}
}
