package powerloss

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Journal is what the library keeps of one server, in a folder of its own.
type Journal struct {
	dir  string // has the journal, the files that have lost their names, and a copy of the library
	data string // the data directory
}

const (
	journalName = "journal"
	savedName   = "saved"
	libraryName = "library.so"
)

// Room is the size of a journal, in bytes: more than a server writes between two power losses. Of the file as much is on
// the disk as was used.
const Room = 1 << 30

// New makes the folder dir for a server whose data directory is data, and whose files are on the same file system.
// Everything in data is durable.
func New(library, dir, data string) (*Journal, error) {
	j, err := open(library, dir, data, Room)
	if err != nil {
		return nil, fmt.Errorf("prepare power losses: %w", err)
	}
	return j, nil
}

func open(library, dir, data string, size int64) (*Journal, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	j := &Journal{}
	var err error
	// The library knows files by what /proc says of them.
	if j.data, err = filepath.EvalSymlinks(data); err != nil {
		return nil, err
	}
	if j.dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if strings.ContainsAny(j.dir, ": ") {
		return nil, fmt.Errorf("no library can be preloaded from %s: its path has a space or a colon; choose another temporary folder", j.dir)
	}
	if err := os.Mkdir(filepath.Join(dir, savedName), 0o700); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(library)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, libraryName), text, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, journalName), os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	h := header{Size: uint64(size), FirstSaved: 1, NextSaved: 1}
	if err := h.write(f); err != nil {
		return nil, err
	}
	return j, f.Close()
}

// Environment returns the variables with which the server is to be started.
func (j *Journal) Environment() []string {
	return []string{
		"LD_PRELOAD=" + filepath.Join(j.dir, libraryName),
		"TXNFUZZ_POWERLOSS=" + j.dir, "TXNFUZZ_POWERLOSS_DATA=" + j.data,
	}
}

// header is how the library's journal begins. Numbers are little-endian.
type header struct {
	Lock, Waiters         uint32
	Size, Used, Seq, Full uint64
	FirstSaved, NextSaved uint64
	Uncovered             [32][64]byte
}

const headerSize = 4096 // with what fills it up

func (h *header) write(f *os.File) error {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, h); err != nil {
		return err
	}
	_, err := f.WriteAt(b.Bytes(), 0)
	return err
}

func (h *header) read(f *os.File) error {
	b := make([]byte, headerSize)
	if _, err := f.ReadAt(b, 0); err != nil {
		return err
	}
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, h); err != nil {
		return err
	}
	if h.Used > h.Size-headerSize {
		return errors.New("the journal's header is damaged")
	}
	return nil
}

func (h *header) uncovered() (names []string) {
	for _, u := range h.Uncovered {
		if name, _, _ := bytes.Cut(u[:], []byte{0}); len(name) > 0 {
			names = append(names, string(name))
		}
	}
	return names
}

// change reads the header of a server that does not run, and writes it again.
func (j *Journal) change(do func(*os.File, *header) error) error {
	f, err := os.OpenFile(filepath.Join(j.dir, journalName), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var h header
	if err := h.read(f); err != nil {
		return err
	}
	if err := do(f, &h); err != nil {
		return err
	}
	return h.write(f)
}

// Rearm prepares the next start of a server that was killed. What it had not synced stays undurable.
func (j *Journal) Rearm() error {
	err := j.change(func(_ *os.File, h *header) error {
		h.Lock, h.Waiters = 0, 0 // whoever held it is dead
		return nil
	})
	if err != nil {
		return fmt.Errorf("prepare the next power loss: %w", err)
	}
	return nil
}
