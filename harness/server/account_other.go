//go:build !linux

package server

import (
	"os/exec"
	"syscall"
)

// start starts a process of the account.
func (a *account) start(cmd *exec.Cmd) error {
	if a != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: a.uid, Gid: a.gid}
	}
	return cmd.Start()
}
