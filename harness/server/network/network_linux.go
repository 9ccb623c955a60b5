package network

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Network is some places that reach each other by TCP, and nothing else. Clients outside reach a server at a place by
// unix sockets.
type Network struct {
	mu      sync.Mutex
	cmd     *exec.Cmd
	leash   io.WriteCloser // its end is that of the holder
	told    *bufio.Reader
	answers interface{ SetReadDeadline(time.Time) error } // where told reads
	nsenter string
	// patience is how long the holder may take to answer.
	patience time.Duration
	// spaces are the descriptors, in the holder, of the places' namespaces.
	spaces []int
}

// New makes a network of so many places, which ends with this process. It returns an *UnavailableError where that is
// not allowed.
func New(places int) (*Network, error) {
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return nil, &UnavailableError{fmt.Errorf("the program nsenter (package util-linux) is needed: %w", err)}
	}
	n := &Network{nsenter: nsenter, patience: patience}
	if err := n.hold(places); err != nil {
		return nil, &UnavailableError{errors.Join(err, n.Close())}
	}
	return n, nil
}

// hold starts the process that holds the namespaces. A process of several threads, as this one is, can enter no other
// user namespace: https://man7.org/linux/man-pages/man2/setns.2.html
func (n *Network) hold(places int) error {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{holderName, strconv.Itoa(places)}
	cmd.Dir, cmd.Env = "/", []string{}
	uid, gid := os.Getuid(), os.Getgid()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setsid: true, Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN, unix.CAP_SYS_ADMIN},
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a process in a user namespace of its own: %w", err)
	}
	n.cmd, n.leash, n.told = cmd, in, bufio.NewReader(out)
	n.answers, _ = out.(*os.File)
	answer, err := n.answer()
	if err != nil {
		return err
	}
	for _, fd := range strings.Fields(answer) {
		number, err := strconv.Atoi(fd)
		if err != nil {
			return fmt.Errorf("the holder of the namespaces answers %q", answer)
		}
		n.spaces = append(n.spaces, number)
	}
	if len(n.spaces) != places {
		return fmt.Errorf("the holder of the namespaces answers %q", answer)
	}
	return nil
}

// answer reads a line of the holder: ok and what it tells, or what failed.
func (n *Network) answer() (string, error) {
	if err := n.answers.SetReadDeadline(time.Now().Add(n.patience)); err != nil {
		return "", fmt.Errorf("wait for the holder of the namespaces: %w", err)
	}
	line, err := n.told.ReadString('\n')
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "", fmt.Errorf("the holder of the namespaces does not answer within %s", n.patience)
	}
	if err != nil {
		return "", fmt.Errorf("the holder of the namespaces has ended: %w", err)
	}
	told, ok := strings.CutPrefix(strings.TrimSpace(line), answerOK)
	if !ok {
		return "", errors.New(strings.TrimSpace(line))
	}
	return told, nil
}

// Enter is what stands before a command that is to run at a place, which is numbered from 0. The process of the command
// is the one that was started.
func (n *Network) Enter(place int) []string {
	proc := "/proc/" + strconv.Itoa(n.cmd.Process.Pid)
	return []string{
		n.nsenter, "--preserve-credentials", "--user=" + proc + "/ns/user",
		"--net=" + proc + "/fd/" + strconv.Itoa(n.spaces[place]), "--",
	}
}

// Cut takes the cable of a place away: nothing comes or goes, and nobody is told.
func (n *Network) Cut(place int) error { return n.ask("cut", place) }

// Heal gives a place its cable back.
func (n *Network) Heal(place int) error { return n.ask("heal", place) }

func (n *Network) ask(what string, place int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, err := fmt.Fprintf(n.leash, "%s %d\n", what, place); err != nil {
		return fmt.Errorf("%s place %d of a network: %w", what, place, err)
	}
	if _, err := n.answer(); err != nil {
		return fmt.Errorf("%s place %d of a network: %w", what, place, err)
	}
	return nil
}

// patience is more than the holder needs for anything on a busy machine.
const patience = 10 * time.Second

// Close ends the network. The namespace of a place lives as long as processes are in it.
func (n *Network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cmd == nil {
		return nil
	}
	err := n.leash.Close()
	holder := n.cmd.Process
	stuck := time.AfterFunc(n.patience, func() { _ = holder.Kill() })
	defer stuck.Stop()
	if e := n.cmd.Wait(); e != nil && len(n.spaces) > 0 { // else New tells what failed
		err = errors.Join(err, fmt.Errorf("end a network: %w", e))
	}
	n.cmd = nil
	return err
}
