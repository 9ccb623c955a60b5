package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"

	"atomicgo.dev/cursor"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/txnfuzz/txnfuzz/fuzz/campaign"
)

// status shows the progress of a campaign on a terminal: an area at its bottom that
// is drawn again in place, and other lines above it.
type status struct {
	mu   sync.Mutex
	w    *os.File
	area cursor.Area
	rows []string
	line []byte // not yet ended
}

func newStatus(w *os.File) *status {
	return &status{w: w, area: cursor.NewArea().WithWriter(w)}
}

// Write takes lines, whole or in parts.
func (s *status) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = append(s.line, p...)
	for {
		line, rest, ok := bytes.Cut(s.line, []byte{'\n'})
		if !ok {
			return len(p), nil
		}
		text := string(line)
		s.line = append(s.line[:0], rest...)
		if rows, ok := strings.CutPrefix(text, campaign.AreaMark); ok {
			s.rows = strings.Split(rows, campaign.AreaMark)
			s.draw()
			continue
		}
		s.area.Clear()
		if _, err := io.WriteString(s.w, text+"\n"); err != nil {
			return 0, err
		}
		s.area = cursor.NewArea().WithWriter(s.w)
		s.draw()
	}
}

// draw draws the area, as wide as the terminal is now.
func (s *status) draw() {
	if len(s.rows) == 0 {
		return
	}
	rows := make([]string, len(s.rows))
	for i, r := range s.rows {
		rows[i] = text.Snip(r, width(s.w)-1, "…")
	}
	s.area.Update(strings.Join(rows, "\n") + "\n")
}

// end takes the area away: what it told is in the report.
func (s *status) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.area.Clear()
	s.rows = nil
}

// width is that of a terminal in columns, 80 where nobody knows.
func width(f *os.File) int {
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 1 {
		return n
	}
	return 80
}
