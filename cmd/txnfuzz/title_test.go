package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestPasswordIn(t *testing.T) {
	for arg, want := range map[string]string{
		"run":                               "",
		"--target":                          "",
		"mariadb:11.8,sql_mode=A":           "",
		"u@tcp(h:1)/":                       "",
		"u:hush@tcp(h:1)/":                  "hush",
		"u:h/u@s:h@unix(/s)/d?tls=false":    "h/u@s:h",
		"--target=u:hush@tcp(h:1)/":         "hush",
		"-t=u:hush@tcp(h:1)/":               "hush",
		"u:hush@tcp(h:1":                    "",      // no DSN, no target
		"u:hu/sh@tcp(h:1":                   "hu/sh", // rather too much
		"u:hush@/d?loc=UTC&x=y@z":           "hush",
		"corpus/found/a:b@c.sql":            "b", // a file's name loses nothing by it
		"--out=/tmp/u":                      "",
		"--json=/tmp/a@b":                   "",
		"u:@tcp(h:1)/":                      "",
		"--target=u:hush@tcp(h:1)/?a=b@c:d": "hush",
	} {
		from, to := passwordIn(arg)
		if got := arg[from:to]; got != want {
			t.Errorf("%s: %q, want %q", arg, got, want)
		}
	}
}

// TestTitle: a process that waits for a server shows no password.
func TestTitle(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // nothing shows a process's command line in the same way
	}
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, args := range [][]string{
		{"run", "--target", "root:hush@unix(" + socket + ")/"},
		{"run", "--target=root:hush@unix(" + socket + ")/"},
	} {
		cmd := command(t, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = l.(*net.UnixListener).SetDeadline(time.Now().Add(time.Minute))
		conn, err := l.Accept() // with the right DSN; it says nothing
		if err != nil {
			t.Fatal(err)
		}
		title, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if text := string(title); strings.Contains(text, "hush") || !strings.Contains(text, "root:xxxx@unix(") {
			t.Errorf("process title %q", text)
		}
		_ = conn.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // reports the kill
	}
}
