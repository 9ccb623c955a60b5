package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/harness"
)

// ownerEnv makes the test binary a process that owns instances of a target, in
// a folder, and waits to be killed.
const ownerEnv = "TXNFUZZ_TEST_OWNER"

// tenantEnv makes it a process that runs a case on a data source name and waits to
// be killed.
const tenantEnv = "TXNFUZZ_TEST_TENANT"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(tenantEnv); dsn != "" {
		if _, err := tenancy(context.Background(), dsn); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println("ready")
		select {}
	}
	if text := os.Getenv(copierEnv); text != "" {
		copyAndWait(strings.Fields(text))
		return
	}
	if both := os.Getenv(ownerEnv); both != "" {
		at := strings.LastIndexByte(both, ' ')
		own(both[:at], both[at+1:])
		return
	}
	os.Exit(m.Run())
}

// brokenMark stands before a cluster whose nodes are to be broken: the first one is cut off, the second one stopped, and
// the third one killed, whose folder its owner then has to remove.
const brokenMark = "broken "

// own starts two instances, or one cluster, and prints a line for each server: its pid and
// that of its watchdog, and the folder.
func own(target, dir string) {
	target, broken := strings.CutPrefix(target, brokenMark)
	for servers := 0; servers < 2; {
		b, err := harness.Open(context.Background(), target, harness.Options{Dir: dir, Durable: broken})
		if err != nil {
			fmt.Println("error:", strings.ReplaceAll(err.Error(), "\n", " "))
			os.Exit(1)
		}
		nodes := []harness.Node{{Backend: b}}
		if c, ok := b.(harness.Clustered); ok {
			nodes = c.Topology().Nodes
		}
		for _, n := range nodes {
			p := n.Backend.(interface{ instance() *process }).instance()
			fmt.Println(p.pid, parentOf(p.pid), p.folder.path)
			servers++
		}
		if m, ok := b.(*members); ok && broken {
			if err := errors.Join(m.PauseNode(1), m.KillNode(2)); err != nil {
				fmt.Println("error:", err)
				os.Exit(1)
			}
			if m.network != nil {
				_ = m.CutNode(0)
			}
		}
	}
	fmt.Println("ready")
	select {}
}

// parentOf returns the parent of a process, 0 if there is no such process or
// it is a zombie.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if fields[0] == "Z" {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

type ownedInstance struct {
	server, watchdog int
	folder           string
	children         []int  // of a server of several processes
	segment          string // key and id of its shared memory
}

// again starts this program as what a variable of the environment says, and returns the lines that it prints.
func again(t *testing.T, variable string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _, _ = cmd.Process.Wait() })
	return cmd, bufio.NewScanner(out)
}

// startOwner runs a process that owns two instances.
func startOwner(t *testing.T, target, dir string) (*exec.Cmd, []ownedInstance) {
	t.Helper()
	cmd, lines := again(t, ownerEnv+"="+target+" "+dir)
	var owned []ownedInstance
	for lines.Scan() {
		if lines.Text() == "ready" {
			return cmd, owned
		}
		var o ownedInstance
		if n, _ := fmt.Sscan(lines.Text(), &o.server, &o.watchdog, &o.folder); n != 3 {
			t.Fatalf("owner: %s", lines.Text())
		}
		o.children = childrenOf(o.server)
		if text, err := os.ReadFile(filepath.Join(o.folder, "data", "postmaster.pid")); err == nil {
			o.segment = strings.Join(strings.Fields(strings.Split(string(text), "\n")[6]), " ")
		}
		owned = append(owned, o)
	}
	t.Fatal("the owner ended early")
	return nil, nil
}

// segments returns the key and the id of each piece of System V shared memory.
func segments() (all []string) {
	text, _ := os.ReadFile("/proc/sysvipc/shm")
	for _, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) > 2 {
			all = append(all, f[0]+" "+f[1])
		}
	}
	return all
}

// whole is how much litter returns at least of instances that live; processes of sessions come and go.
func whole(owned []ownedInstance) (n int) {
	for _, o := range owned {
		n += 3
		if o.segment != "" {
			n++
		}
	}
	return n
}

// litter returns what is left of instances: processes, folders and shared memory.
func litter(owned []ownedInstance) (left []string) {
	for _, o := range owned {
		if slices.Contains(segments(), o.segment) {
			left = append(left, "shared memory "+o.segment)
		}
		for _, pid := range append([]int{o.server, o.watchdog}, o.children...) {
			if parentOf(pid) != 0 {
				left = append(left, fmt.Sprintf("process %d", pid))
			}
		}
		if _, err := os.Lstat(o.folder); err == nil {
			left = append(left, o.folder)
		}
	}
	return left
}

// until polls for ten seconds, which a loaded machine may need.
func until(f func() bool) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			return true
		}
	}
	return f()
}

// shortDir returns a folder whose path leaves room for a socket.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp(base(1<<30), "txf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// owners returns the installed servers of every family.
func owners(t *testing.T) []string {
	return slices.Concat(installedTargets(t), installedTiDBs(t), installedClusters(t))
}

func TestNothingOutlivesTheOwner(t *testing.T) {
	deaths := map[string]func(*exec.Cmd) error{
		"SIGKILL":              func(c *exec.Cmd) error { return c.Process.Kill() },
		"SIGTERM":              func(c *exec.Cmd) error { return c.Process.Signal(syscall.SIGTERM) },
		"SIGINT of the group":  func(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGINT) },
		"SIGSEGV":              func(c *exec.Cmd) error { return c.Process.Signal(syscall.SIGSEGV) },
		"SIGKILL of the group": func(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) },
	}
	each(t, owners(t), func(t *testing.T, target string) {
		for name, kill := range deaths {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir := shortDir(t)
				cmd, owned := startOwner(t, target, dir)
				if n := len(litter(owned)); n < whole(owned) {
					t.Fatalf("before the end there is %q, want %d or more", litter(owned), whole(owned))
				}
				began := time.Now()
				if err := kill(cmd); err != nil {
					t.Fatal(err)
				}
				if !until(func() bool { return len(litter(owned)) == 0 }) {
					t.Errorf("left after ten seconds: %v", litter(owned))
				}
				t.Logf("all gone after %v", time.Since(began).Round(time.Millisecond))
				if left, _ := os.ReadDir(dir); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	})
}

// TestSweep kills an owner and its watchdogs at once, as a container's end may:
// the next start clears up after them, and spares what is alive.
func TestSweep(t *testing.T) {
	each(t, owners(t), func(t *testing.T, target string) {
		dir := shortDir(t)
		cmd, owned := startOwner(t, target, dir)
		_, alive := startOwner(t, target, dir)
		// Stopped processes cannot clear up before they are killed.
		var killed []int
		for _, o := range owned {
			group, err := syscall.Getpgid(o.watchdog)
			if err != nil {
				t.Fatal(err)
			}
			children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", o.watchdog, o.watchdog))
			for _, c := range append(strings.Fields(string(children)), strconv.Itoa(group)) {
				pid, _ := strconv.Atoi(c)
				if pid != o.server {
					if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
						t.Fatal(err)
					}
				}
			}
			defer func() {
				for _, c := range strings.Fields(string(children)) {
					if pid, _ := strconv.Atoi(c); pid != o.server && parentOf(pid) != 0 {
						_ = syscall.Kill(pid, syscall.SIGKILL)
					}
				}
			}()
			for _, c := range append(strings.Fields(string(children)), strconv.Itoa(group)) {
				if pid, _ := strconv.Atoi(c); pid != o.server {
					_ = syscall.Kill(pid, syscall.SIGKILL)
					killed = append(killed, pid)
				}
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = cmd.Process.Wait()
		// Until they are gone they hold the locks of their folders.
		if !until(func() bool { return !slices.ContainsFunc(killed, func(pid int) bool { return parentOf(pid) != 0 }) }) {
			t.Fatalf("of the killed processes %v some are still there", killed)
		}
		for _, o := range owned {
			if parentOf(o.server) == 0 {
				t.Fatal("the server is dead already: this test shows nothing")
			}
		}
		b, err := harness.Open(t.Context(), target, harness.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if !until(func() bool { return len(litter(owned)) == 0 }) {
			t.Errorf("left by the dead: %v", litter(owned))
		}
		if n := len(litter(alive)); n < whole(alive) {
			t.Errorf("of the living there is %q left, want %d or more", litter(alive), whole(alive))
		}
	})
}

func TestClose(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		dir := shortDir(t)
		b, err := harness.Open(t.Context(), target, harness.Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		p := b.(*private).current
		owned := []ownedInstance{{server: p.pid, watchdog: parentOf(p.pid), folder: p.folder.path}}
		info, err := os.Stat(p.folder.path)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the folder's mode is %v (%v), want 0700", info.Mode(), err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if left := litter(owned); len(left) > 0 {
			t.Errorf("left by Close: %v", left)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("left by Close: %v", left)
		}
		if !strings.Contains(b.Log(), "ready for connections") {
			t.Errorf("the log is lost: %q", b.Log())
		}
		if err := b.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	})
}
