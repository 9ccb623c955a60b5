package kv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// SyntaxError tells what of a file is not what its format asks for. A file
// with one is never judged, not even up to there.
type SyntaxError struct {
	File   string
	Line   int64 // from 1; 0 for binary files
	Column int64 // in bytes, from 1
	Offset int64 // in bytes, from 0
	Want   string
	Got    string
}

func (e *SyntaxError) Error() string {
	got := ""
	if e.Got != "" {
		got = ", got " + e.Got
	}
	if e.Line == 0 {
		return fmt.Sprintf("%s: offset %d: expected %s%s", e.File, e.Offset, e.Want, got)
	}
	return fmt.Sprintf("%s:%d:%d: expected %s%s", e.File, e.Line, e.Column, e.Want, got)
}

// maxForm bounds one form of a text file, so that a file that opens a bracket
// and never closes it does not fill the memory.
const maxForm = 1 << 28

// maxDepth bounds brackets in brackets.
const maxDepth = 1000

// scanner reads a text file form by form. A form that the buffer cuts is
// parsed again from its start when more was read: the buffer doubles, so all
// of it costs at most twice.
type scanner struct {
	file string
	src  io.Reader
	buf  []byte
	pos  int
	eof  bool
	line int64
	// lineStart and base are offsets in the file: of the line, of buf[0].
	lineStart, base int64
}

func newScanner(file string, src io.Reader) *scanner {
	return &scanner{file: file, src: src, line: 1, buf: make([]byte, 0, 1<<18)}
}

// short is what parsing panics with when it meets the buffer's end.
type short struct{}

// form calls parse with a cursor at the next form. It returns io.EOF when only
// blanks are left.
func (s *scanner) form(json bool, parse func(*cursor)) error {
	for {
		c := cursor{s: s, b: s.buf, i: s.pos, json: json}
		err := c.run(parse)
		if err == nil {
			s.advance(c.i)
			return nil
		}
		if !errors.Is(err, errShort) {
			return err
		}
		if s.eof {
			if c.blank {
				s.advance(len(s.buf))
				return io.EOF
			}
			c.i = len(s.buf)
			return c.syntax("more: the file ends in the middle of "+c.what(), "its end")
		}
		if err := s.more(); err != nil {
			return err
		}
	}
}

func (s *scanner) advance(to int) {
	for i := s.pos; ; {
		n := bytes.IndexByte(s.buf[i:to], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		s.line++
		s.lineStart = s.base + int64(i)
	}
	s.pos = to
}

func (s *scanner) more() error {
	if s.pos > 0 {
		n := copy(s.buf, s.buf[s.pos:])
		s.buf = s.buf[:n]
		s.base += int64(s.pos)
		s.pos = 0
	}
	if len(s.buf) > cap(s.buf)/2 {
		if len(s.buf) >= maxForm {
			return &SyntaxError{File: s.file, Line: s.line, Column: 1, Offset: s.base, Want: "the end of a transaction", Got: "256 MB without one"}
		}
		s.buf = append(make([]byte, 0, 2*cap(s.buf)), s.buf...)
	}
	for {
		n, err := s.src.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if err == io.EOF {
			s.eof = true
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", s.file, err)
		}
		if n > 0 {
			return nil
		}
	}
}
