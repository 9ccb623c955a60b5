package network

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// needsNetwork skips a test where no network of our own can be made.
func needsNetwork(t *testing.T, places int) *Network {
	t.Helper()
	n, err := New(places)
	var no *UnavailableError
	if errors.As(err, &no) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// reaches tells whether one place can connect to another one. A port on which nobody listens answers at once.
func reaches(t *testing.T, n *Network, from, to int, patience time.Duration) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	// The shell's own way to connect; a refusal comes from the other place.
	args := append(n.Enter(from), "bash", "-c", "exec 3<>/dev/tcp/"+Address(to)+"/9")
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
	return err == nil || strings.Contains(string(out), "refused")
}

func TestCut(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	n := needsNetwork(t, 3)
	for _, step := range []struct {
		name    string
		do      func(int) error
		place   int
		reached bool // by place 0: place 1
	}{
		{"nothing done", func(int) error { return nil }, 0, true}, {"cut", n.Cut, 1, false}, {"healed", n.Heal, 1, true},
		{"cut by the other", n.Cut, 0, false}, {"healed again", n.Heal, 0, true}, {"cut a third", n.Cut, 2, true},
	} {
		if err := step.do(step.place); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		patience := 300 * time.Millisecond
		if step.reached {
			patience = 10 * time.Second // a first packet that was lost is sent again after a second
		}
		if got := reaches(t, n, 0, 1, patience); got != step.reached {
			t.Errorf("%s: place 1 is reached: %v, want %v", step.name, got, step.reached)
		}
	}
	if err := n.Cut(3); err == nil {
		t.Error("a place that is not there was cut off")
	}
}

// TestOutside: who is not in the network does not reach it.
func TestOutside(t *testing.T) {
	n := needsNetwork(t, 2)
	names := map[string]bool{}
	for _, args := range [][]string{{}, n.Enter(0), n.Enter(1)} {
		args = append(args, "readlink", "/proc/self/ns/net")
		out, err := exec.Command(args[0], args[1:]...).Output()
		if err != nil {
			t.Fatal(err)
		}
		names[string(bytes.TrimSpace(out))] = true
	}
	if len(names) != 3 {
		t.Errorf("outside and two places: %v", names)
	}
}

// TestHolderEnds: the namespaces are held by one process, which ends with its owner, however that ends.
func TestHolderEnds(t *testing.T) {
	if os.Getenv("TXNFUZZ_NETWORK_OWNER") != "" {
		n, err := New(2)
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("holder " + strconv.Itoa(n.cmd.Process.Pid) + "\n")
		select {}
	}
	needsNetwork(t, 1)
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestHolderEnds$")
	cmd.Env = append(os.Environ(), "TXNFUZZ_NETWORK_OWNER=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 200)
	read, err := out.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(strings.TrimPrefix(string(buffer[:read]), "holder "))
	space := filepath.Join("/proc", pid, "ns/net")
	if _, err := os.Readlink(space); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Readlink(space); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the holder lives on")
		}
	}
}

// TestStoppedHolder: a holder that does not answer keeps nobody waiting.
func TestStoppedHolder(t *testing.T) {
	n := needsNetwork(t, 2)
	n.patience = 100 * time.Millisecond
	if err := n.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := n.Cut(0); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("a holder that is stopped: %v", err)
	}
	if err := n.Close(); err == nil {
		t.Error("nobody is told that the holder had to be killed")
	}
}
