package export

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
)

// terminal is a running command-line client.
type terminal struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	marks int
	next  int
}

func openTerminal(t *testing.T, socket string) *terminal {
	t.Helper()
	// -vv shows row counts, --force goes on behind errors.
	cmd := program(t, "mariadb", "--no-defaults", "--socket="+socket, "--user=root", "--batch", "-v", "-v", "--force", "--unbuffered", "txnfuzz_paste")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &terminal{cmd: cmd, in: in, out: bufio.NewScanner(out)}
}

// paste sends a line and a query that marks the end of its answer.
func (x *terminal) paste(line string) {
	x.marks++
	fmt.Fprintf(x.in, "%s\nSELECT 'mark %d';\n", line, x.marks)
}

// answer reads up to the next mark.
func (x *terminal) answer(t *testing.T) []string {
	t.Helper()
	x.next++
	mark := fmt.Sprintf("mark %d", x.next)
	var lines []string
	heading := false
	for x.out.Scan() {
		line := x.out.Text()
		// The mark comes as echo, as column heading and as value.
		if line == mark && heading {
			return lines
		}
		heading = heading || line == mark
		lines = append(lines, line)
	}
	t.Fatalf("the client ended before %s:\n%s", mark, strings.Join(lines, "\n"))
	return nil
}

// expect reads an answer and, where a note says what it shows, compares.
func (x *terminal) expect(t *testing.T, tl *timeline.Timeline, sql, note string) {
	t.Helper()
	got := x.answer(t)
	if _, want, ok := strings.Cut(note, "shows "); ok {
		want, expected, _ := strings.Cut(want, ", expected ")
		if _, answer, ok := strings.Cut(want, ": "); ok && strings.HasPrefix(expected, "waits for ") {
			want = answer // that it came too early the client does not say
		}
		x.compare(t, tl, sql, got, want)
	}
}

var (
	updated  = regexp.MustCompile(`^(\d+) matched, (\d+) changed$`)
	affected = regexp.MustCompile(`^(\d+) affected$`)
	failed   = regexp.MustCompile(`^error (\d+)`)
)

// compare holds what a client showed against what the script says it shows.
func (x *terminal) compare(t *testing.T, tl *timeline.Timeline, sql string, got []string, want string) {
	t.Helper()
	text := strings.Join(got, "\n")
	ok := false
	if m := updated.FindStringSubmatch(want); m != nil {
		ok = strings.Contains(text, fmt.Sprintf("Rows matched: %s  Changed: %s ", m[1], m[2]))
	} else if m := affected.FindStringSubmatch(want); m != nil {
		ok = regexp.MustCompile(`Query OK, ` + m[1] + ` rows? affected`).MatchString(text)
	} else if m := failed.FindStringSubmatch(want); m != nil {
		ok = strings.Contains(text, "ERROR "+m[1]+" ")
	} else {
		var rows []string
		reading := false
		for _, l := range got {
			switch {
			case l == "" || l == "--------------" || strings.HasSuffix(l, " in set"), strings.HasPrefix(l, "Empty set"):
				reading = false
			case strings.Contains(l, "SELECT 'mark"):
				reading = false
			case reading:
				rows = append(rows, "("+strings.ReplaceAll(l, "\t", ",")+")")
			}
			if strings.HasPrefix(l, "--------------") {
				continue
			}
			if isHeading(tl, l) {
				reading = true
			}
		}
		wanted := strings.Split(want, ") (")
		slices.Sort(rows)
		ok = want == "no rows" && len(rows) == 0 || len(rows) == len(wanted)
		for _, r := range rows {
			ok = ok && strings.Contains(want, r)
		}
	}
	if !ok {
		t.Errorf("%s at %s: %s: want %s, the client shows\n%s", tl.File, tl.LevelText(), sql, want, text)
	}
}

// isHeading recognises a line of column names that the run has returned.
func isHeading(tl *timeline.Timeline, line string) bool {
	for i := range tl.History.Stmts {
		if c := tl.History.Stmts[i].Result.Columns; len(c) > 0 && strings.Join(c, "\t") == line {
			return true
		}
	}
	for _, t := range tl.History.Final {
		if strings.Join(t.Columns, "\t") == line {
			return true
		}
	}
	return false
}

func (x *terminal) close(t *testing.T) {
	t.Helper()
	if err := x.in.Close(); err != nil {
		t.Error(err)
	}
	for x.out.Scan() {
	}
	_ = x.cmd.Wait() // its status is that of the last statement that failed
}
