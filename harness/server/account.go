package server

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// account is the user that runs a server which refuses to be run by root.
type account struct{ uid, gid uint32 }

// accounts are the users that may do so, best first. They need an entry in the system's list of users.
var accounts = []string{"postgres", "nobody"}

// unprivileged returns who runs such a server: nil, this user, unless that is root.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range accounts {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		if err != nil {
			continue
		}
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		if err == nil && uid != 0 {
			return &account{uint32(uid), uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("root may not run this server, and there is no user %s or %s who could", accounts[0], accounts[1])
}

// owns gives what lies below a folder to the account.
func (a *account) owns(dir string) error {
	if a == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(a.uid), int(a.gid))
	})
}
