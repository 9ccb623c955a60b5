package server

import (
	"os/exec"
	"testing"
)

func TestStillness(t *testing.T) {
	for script, want := range map[string]bool{"sleep 60 & wait": true, "while :; do :; done": false} {
		cmd := exec.Command("/bin/sh", "-c", script)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s := newStillness(cmd.Process.Pid)
		still := s.still(t.Context())
		if want { // it has to get there
			until(func() bool { still = s.still(t.Context()); return still })
		}
		if still != want {
			t.Errorf("%s: still %v", script, still)
		}
		if left := s.stuck(map[string]string{"0": "of a thread that is gone"}); left != 0 {
			t.Errorf("%s: %d threads of those that are gone are stuck", script, left)
		}
		s.close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if newStillness(0).still(t.Context()) {
		t.Error("a process that cannot be watched is still")
	}
}
