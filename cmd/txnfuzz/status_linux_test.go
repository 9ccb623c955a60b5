package main

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

// The area stands once at the bottom, is cut at the width that the terminal has at
// the time, and lines go above it.
func TestStatusArea(t *testing.T) {
	master, slave := openTerminal(t, 30, 24)
	s := newStatus(slave)
	shown := newScreen(t, 30, 24)
	sent := 0
	// see writes, reads all that came of it, and compares the screen.
	see := func(text string, want ...string) {
		t.Helper()
		if text == "" {
			s.end()
		} else if _, err := s.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		sent++
		mark := fmt.Sprintf("\x1b[0;%dm", sent) // shows nothing
		if _, err := slave.WriteString(mark); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for buffer := make([]byte, 4096); !strings.HasSuffix(got.String(), mark); {
			n, err := master.Read(buffer)
			if err != nil {
				t.Fatal(err)
			}
			got.Write(buffer[:n])
		}
		shown.write(got.String())
		if text := shown.text(); text != strings.Join(want, "\n") {
			t.Errorf("after %q the screen is\n%s\nwant\n%s", text, shown.text(), strings.Join(want, "\n"))
		}
	}
	area := func(rows ...string) string {
		return campaign.AreaMark + strings.Join(rows, campaign.AreaMark) + "\n"
	}
	see("starting\n", "starting")
	see(area("10 cases", "nothing found"), "starting", "10 cases", "nothing found")
	see(area("20 cases", "nothing found"), "starting", "20 cases", "nothing found")
	see("found a\n", "starting", "found a", "20 cases", "nothing found")
	see("half", "starting", "found a", "20 cases", "nothing found")
	see(" a line\n", "starting", "found a", "half a line", "20 cases", "nothing found")
	long := strings.Repeat("0123456789", 5)
	see(area("30 cases", long), "starting", "found a", "half a line", "30 cases", long[:28]+"…")
	see(long+"\n", "starting", "found a", "half a line", long[:30], long[30:], "30 cases", long[:28]+"…")
	resize(t, master, 20, 24)
	shown.width = 20
	see(area("40 cases", strings.Repeat("é", 50)), "starting", "found a", "half a line", long[:30], long[30:], "40 cases", strings.Repeat("é", 18)+"…")
	see(area("50 cases"), "starting", "found a", "half a line", long[:30], long[30:], "50 cases")
	see("", "starting", "found a", "half a line", long[:30], long[30:])
}

// A run draws its area on a terminal, and nothing of it is left behind.
func TestRunOnATerminal(t *testing.T) {
	t.Parallel()
	target := serverTarget(t)
	master, slave := openTerminal(t, 70, 50)
	cmd := command(t, "run", "--target", target, "--strict", "--duration", "4s", "--seed", "1", "--reduce", "0", "--out", t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	shown := newScreen(t, 70, 50)
	drawn := 0
	buffer := make([]byte, 4096)
	for {
		n, err := master.Read(buffer)
		if err != nil {
			break // EIO: the program has gone
		}
		shown.write(string(buffer[:n]))
		switch areas := strings.Count(shown.text(), "reducing "); {
		case areas > 1:
			t.Fatalf("the area stands %d times:\n%s", areas, shown.text())
		case areas == 1:
			drawn++
		}
	}
	_ = cmd.Wait() // its status is looked at
	if code := cmd.ProcessState.ExitCode(); code != exitFound || drawn == 0 {
		t.Errorf("status %d, the area was drawn %d times:\n%s", code, drawn, shown.text())
	}
	if text := shown.text(); strings.Contains(text, "reducing ") || !strings.Contains(text, "finding mariadb-") {
		t.Errorf("in the end the screen is\n%s", text)
	}
}

// Where there is no terminal, progress is plain lines.
func TestRunWithoutATerminal(t *testing.T) {
	t.Parallel()
	got := txnfuzz(t, "run", "--target", serverTarget(t), "--strict", "--cases", "50", "--seed", "1", "--reduce", "0", "--out", t.TempDir())
	if strings.ContainsAny(got.stderr+got.stdout, "\x1b\r"+campaign.AreaMark) {
		t.Errorf("not plain:\n%q\n%q", got.stderr, got.stdout)
	}
	if !strings.Contains(got.stderr, "seed 1\n") {
		t.Errorf("no progress:\n%s", got.stderr)
	}
}

// The table of a case fits the width of most terminals; a sentence below it may be
// longer and is wrapped by the terminal.
func TestShowFitsTheTerminal(t *testing.T) {
	t.Parallel()
	target := serverTarget(t)
	for _, file := range []string{"corpus/found/mariadb-index-hides-changed-record.sql", "corpus/found/innodb-read-uncommitted-loses-rows.sql", "corpus/known/maria-27992.sql"} {
		got := txnfuzz(t, "show", file, "--target", target)
		tables := 0
		for _, line := range strings.Split(got.stdout, "\n") {
			if strings.ContainsAny(line, "│┌└├") {
				tables++
			}
			if n := utf8.RuneCountInString(line); n > 80 && strings.ContainsAny(line, "│┌└├") {
				t.Errorf("%s: %d columns: %s", file, n, line)
			}
		}
		if tables == 0 {
			t.Errorf("%s: no table:\n%s%s", file, got.stdout, got.stderr)
		}
	}
}
