package kv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Format is a form of files.
type Format string

const (
	JSONLines Format = "jsonl"
	ElleEDN   Format = "edn"
	ElleJSON  Format = "json"
	Text      Format = "text"
	Cobra     Format = "cobra"
	DBCop     Format = "dbcop"
)

// Formats lists what can be read, and of these what can be written.
var (
	Formats  = []Format{JSONLines, ElleEDN, ElleJSON, Text, Cobra, DBCop}
	Writable = []Format{JSONLines, ElleEDN, ElleJSON, Text}
)

// ParseFormat reads a format's name; the empty one means: told by content.
func ParseFormat(s string, of []Format) (Format, error) {
	if s == "" || slices.Contains(of, Format(s)) {
		return Format(s), nil
	}
	var names []string
	for _, f := range of {
		names = append(names, string(f))
	}
	return "", fmt.Errorf("unknown format %q: one of %s", s, strings.Join(names, ", "))
}

// Input is an opened file, or folder of logs.
type Input struct {
	Source
	Format Format
	Path   string
	file   *os.File
	count  *counter
}

// Close closes the file.
func (i *Input) Close() error {
	if i.file == nil {
		return nil
	}
	return i.file.Close()
}

// Read is how many bytes were read, Size how many there are.
func (i *Input) Read() int64 { return i.count.n }

// Size is the file's size, 0 if it has none.
func (i *Input) Size() int64 {
	if i.file == nil {
		return 0
	}
	if st, err := i.file.Stat(); err == nil {
		return st.Size()
	}
	return 0
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Open opens a history of any format, or of the one that is given.
func Open(path string, format Format) (*Input, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		logs := CobraLogs(path)
		if format != "" && format != Cobra || len(logs) == 0 {
			return nil, &SyntaxError{File: path, Want: "a folder with Cobra's *.log files, one of each session", Got: "another folder"}
		}
		return &Input{Source: ReadCobra(logs), Format: Cobra, Path: path, count: &counter{}}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	in := &Input{Path: path, file: f, Format: format, count: &counter{r: f}}
	head := make([]byte, 1<<12)
	n, err := io.ReadFull(in.count, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		f.Close()
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	head = head[:n]
	if format == "" {
		if in.Format, err = Detect(path, head); err != nil {
			f.Close()
			return nil, err
		}
	}
	if in.Source, err = NewSource(path, in.Format, io.MultiReader(bytes.NewReader(head), in.count)); err != nil {
		f.Close()
		return nil, err
	}
	return in, nil
}

// NewSource reads a format other than Cobra's from a stream.
func NewSource(file string, format Format, r io.Reader) (Source, error) {
	switch format {
	case JSONLines:
		return ReadJSONLines(file, r)
	case ElleEDN, ElleJSON:
		return ReadElle(file, r, format == ElleJSON), nil
	case Text:
		return ReadText(file, r), nil
	case DBCop:
		return ReadDBCop(file, r), nil
	}
	return nil, &SyntaxError{File: file, Want: "Cobra's logs as a folder, one file of each session", Got: "one file"}
}

// Detect tells the format by a file's first bytes.
func Detect(file string, head []byte) (Format, error) {
	if isDBCop(head) {
		return DBCop, nil
	}
	if len(head) >= 10 && head[0] == 'S' && bytes.IndexByte([]byte("CWR"), head[9]) >= 0 {
		return "", &SyntaxError{File: file, Want: "Cobra's logs as a folder, one file of each session", Got: "one of its logs"}
	}
	text := bytes.TrimLeft(head, " \t\r\n,")
	plain := bytes.TrimLeft(text, "[ \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("r(")), bytes.HasPrefix(text, []byte("w(")):
		return Text, nil
	case bytes.HasPrefix(text, []byte("{")) && bytes.Contains(firstLine(text), []byte(FormatName)):
		return JSONLines, nil
	case bytes.HasPrefix(text, []byte(";")), bytes.HasPrefix(text, []byte("#")):
		return ElleEDN, nil
	case bytes.HasPrefix(plain, []byte("{")):
		if inside := bytes.TrimLeft(plain[1:], " \t\r\n"); len(inside) > 0 && inside[0] == '"' {
			return ElleJSON, nil
		}
		return ElleEDN, nil
	case bytes.HasPrefix(plain, []byte("#")), bytes.HasPrefix(plain, []byte(";")), bytes.Equal(bytes.TrimSpace(text), []byte("[]")):
		return ElleEDN, nil
	}
	got := "an empty file"
	if len(text) > 0 {
		got = fmt.Sprintf("%q", clip(text))
	}
	return "", &SyntaxError{File: file, Line: 1, Column: 1, Want: "a history of a known format (--format forces one)", Got: got}
}

func firstLine(b []byte) []byte {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i]
	}
	return b
}

// isDBCop: five small numbers and three texts of sensible length.
func isDBCop(b []byte) bool {
	if len(b) < 64 {
		return false
	}
	for i := range 5 {
		if binary.LittleEndian.Uint64(b[8*i:]) > 1<<40 {
			return false
		}
	}
	at := uint64(40)
	for range 3 {
		if at+8 > uint64(len(b)) {
			return false
		}
		n := binary.LittleEndian.Uint64(b[at:])
		if n > 1<<10 {
			return false
		}
		at += 8 + n
	}
	return true
}

// WriteHistory writes a history in one of the Writable formats.
func WriteHistory(w io.Writer, h *History, format Format) error {
	switch format {
	case ElleEDN, ElleJSON:
		return WriteElle(w, h, format == ElleJSON)
	case Text:
		return WriteText(w, h)
	case JSONLines:
		j, err := NewWriter(w, h.Header, h.Names)
		if err != nil {
			return err
		}
		var r Record
		for i := range h.Len() {
			h.Open(i, &r)
			if err := j.Write(&r); err != nil {
				return err
			}
		}
		return j.Close()
	}
	return fmt.Errorf("format %q is read only", format)
}

// LoadFile reads all of a file, or of a folder of logs, of any format.
func LoadFile(path string, format Format) (*History, error) {
	in, err := Open(path, format)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	h, err := Load(path, in.Source)
	if err != nil {
		return nil, err
	}
	h.Binary = in.Format == Cobra || in.Format == DBCop
	return h, nil
}
