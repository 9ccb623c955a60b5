package server

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// noSetuidFixup keeps access(2), by which a server looks for its own programs, from asking without
// the process's capabilities. https://man7.org/linux/man-pages/man7/capabilities.7.html
const noSetuidFixup = 1 << 2

// start starts a process of the account. It keeps root's way past the permissions of files, since the
// programs may lie in root's own folders.
func (a *account) start(cmd *exec.Cmd) error {
	if a == nil {
		return cmd.Start()
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	if !may(unix.CAP_DAC_OVERRIDE) || !may(unix.CAP_SETPCAP) {
		return cmd.Start()
	}
	cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_DAC_OVERRIDE}
	// The bits are the thread's, and the process inherits them from that.
	runtime.LockOSThread()
	bits, err := unix.PrctlRetInt(unix.PR_GET_SECUREBITS, 0, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECUREBITS, uintptr(bits|noSetuidFixup), 0, 0, 0)
	}
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("prepare a process of user %d: %w", a.uid, err)
	}
	err = cmd.Start()
	if unix.Prctl(unix.PR_SET_SECUREBITS, uintptr(bits), 0, 0, 0) == nil {
		runtime.UnlockOSThread() // else the thread ends with its goroutine
	}
	return err
}

var capabilities = regexp.MustCompile(`(?m)^Cap(?:Prm|Bnd):\s*([0-9a-f]+)$`)

// may tells whether this process has a capability and may give it on.
func may(capability int) bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	sets := capabilities.FindAllSubmatch(status, -1)
	for _, set := range sets {
		bits, err := strconv.ParseUint(string(set[1]), 16, 64)
		if err != nil || bits&(1<<capability) == 0 {
			return false
		}
	}
	return len(sets) == 2
}
