package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// screen is what somebody sees on a terminal: it understands as much of ECMA-48 as
// the program writes, and fails a test at anything else.
type screen struct {
	t             *testing.T
	width, height int
	lines         [][]rune // all of them, those that have left at the top, too
	row, col      int
	rest          string
}

func newScreen(t *testing.T, width, height int) *screen {
	return &screen{t: t, width: width, height: height, lines: [][]rune{nil}}
}

var control = regexp.MustCompile("^\x1b\\[([?0-9;]*)([A-Za-z])")

// write takes what a program sends, in parts that may end anywhere.
func (s *screen) write(text string) {
	s.t.Helper()
	text = s.rest + text
	s.rest = ""
	for text != "" {
		if text[0] == '\x1b' {
			m := control.FindStringSubmatch(text)
			if m == nil && len(text) < 16 {
				s.rest = text
				return
			}
			if m == nil {
				s.t.Fatalf("not understood: %q", text[:16])
			}
			s.control(m[1], m[2])
			text = text[len(m[0]):]
			continue
		}
		r := []rune(text)[0]
		if r == '\uFFFD' && len(text) < 4 { // half a rune
			s.rest = text
			return
		}
		text = text[len(string(r)):]
		switch r {
		case '\r':
			s.col = 0
		case '\n':
			s.down()
		default:
			s.put(r)
		}
	}
}

func (s *screen) down() {
	if s.row++; s.row == len(s.lines) {
		s.lines = append(s.lines, nil)
	}
}

func (s *screen) put(r rune) {
	if s.col == s.width { // a terminal wraps when the next rune comes
		s.col = 0
		s.down()
	}
	for len(s.lines[s.row]) <= s.col {
		s.lines[s.row] = append(s.lines[s.row], ' ')
	}
	s.lines[s.row][s.col] = r
	s.col++
}

func (s *screen) control(argument, final string) {
	s.t.Helper()
	n, err := strconv.Atoi(argument)
	if err != nil {
		n = 1
	}
	top := max(0, len(s.lines)-s.height)
	switch {
	case final == "A":
		s.row = max(s.row-n, top)
	case final == "B":
		s.row = min(s.row+n, len(s.lines)-1)
	case final == "G":
		s.col = n - 1
	case final == "D":
		s.col = max(0, s.col-n)
	case final == "K" && argument == "2":
		s.lines[s.row] = nil
	case final == "K" && (argument == "" || argument == "0"):
		s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))]
	case final == "J" && (argument == "" || argument == "0"):
		s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))]
		s.lines = s.lines[:s.row+1]
	case final == "m", strings.HasPrefix(argument, "?25"):
	default:
		s.t.Fatalf("not understood: ESC [ %s %s", argument, final)
	}
}

// text is what stands on the screen, without empty lines at the end.
func (s *screen) text() string {
	out := make([]string, len(s.lines))
	for i, l := range s.lines {
		out[i] = strings.TrimRight(string(l), " ")
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

// openTerminal opens both ends of a pseudo-terminal of a size.
func openTerminal(t *testing.T, width, height int) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	var unlock, number int32
	if err := ioctl(master, tiocSPTLCK, &unlock); err != nil {
		t.Fatal(err)
	}
	if err := ioctl(master, tiocGPTN, &number); err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	resize(t, master, width, height)
	return master, slave
}

func resize(t *testing.T, f *os.File, width, height int) {
	t.Helper()
	size := [4]uint16{uint16(height), uint16(width)} // rows first; the pixels are 0
	if err := ioctl(f, syscall.TIOCSWINSZ, (*int32)(unsafe.Pointer(&size))); err != nil {
		t.Fatal(err)
	}
}
