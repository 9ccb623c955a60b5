package pause

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Image is the program of a server: where its functions begin, by link-time address.
type Image struct {
	Path string
	// Build is the build id of the file, in hexadecimal digits.
	Build string
	// lo and hi bound the code, and load is where the file begins, as link-time addresses: 0 unless the program is
	// made for one place in memory.
	lo, hi, load uint64
	starts       []uint64 // of the functions, ascending
	names        map[uint64]string
	byName       map[string]uint64
}

// unnamed begins the name of a function that only the unwind table knows; its link-time address follows.
const unnamed = "fn_"

// Open reads the functions of a program from its unwind table, which has an entry for each, and
// their names from the symbols that are there.
//
// https://refspecs.linuxfoundation.org/LSB_5.0.0/LSB-Core-generic/LSB-Core-generic/ehframechpt.html
func Open(path string) (*Image, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read a server's program: %w", err)
	}
	defer f.Close()
	text, table := f.Section(".text"), f.Section(".eh_frame_hdr")
	if text == nil || table == nil {
		return nil, fmt.Errorf("%s has no table of its functions (.eh_frame_hdr)", path)
	}
	rows, err := table.Data()
	if err != nil {
		return nil, fmt.Errorf("read the table of functions of %s: %w", path, err)
	}
	// Version 1, and what all linkers write: pointer and rows of four bytes, the rows relative to the table.
	if len(rows) < 12 || rows[0] != 1 || rows[2] != 0x03 || rows[3] != 0x3b {
		return nil, fmt.Errorf("%s has a table of functions of an unknown form", path)
	}
	im := &Image{
		Path: path, Build: buildID(f), lo: text.Addr, hi: text.Addr + text.Size,
		names: map[uint64]string{}, byName: map[string]uint64{},
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD { // in the order of their addresses
			im.load = p.Vaddr &^ 0xfff
			break
		}
	}
	n := int(binary.LittleEndian.Uint32(rows[8:]))
	if len(rows) < 12+8*n {
		return nil, fmt.Errorf("%s has a table of functions that is cut off", path)
	}
	for i := range n {
		at := table.Addr + uint64(int64(int32(binary.LittleEndian.Uint32(rows[12+8*i:]))))
		if im.holds(at) {
			im.starts = append(im.starts, at)
		}
	}
	slices.Sort(im.starts)
	for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		symbols, err := read()
		if err != nil { // none of that sort
			continue
		}
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && im.holds(s.Value) && im.names[s.Value] == "" {
				im.names[s.Value], im.byName[s.Name] = s.Name, s.Value
			}
		}
	}
	return im, nil
}

func buildID(f *elf.File) string {
	s := f.Section(".note.gnu.build-id")
	if s == nil {
		return ""
	}
	note, err := s.Data()
	// Lengths of name and content, type, then the name "GNU" and its zero.
	if err != nil || len(note) < 16 {
		return ""
	}
	return hex.EncodeToString(note[16:])
}

func (im *Image) holds(at uint64) bool { return at >= im.lo && at < im.hi }

// Name gives function and offset of a link-time address. A function without a symbol is named by
// where it begins.
func (im *Image) Name(at uint64) (function string, offset uint64) {
	i, ok := slices.BinarySearch(im.starts, at)
	if !ok {
		i--
	}
	if i < 0 {
		return unnamed + strconv.FormatUint(im.lo, 16), at - im.lo
	}
	start := im.starts[i]
	if name := im.names[start]; name != "" {
		return name, at - start
	}
	return unnamed + strconv.FormatUint(start, 16), at - start
}

// Address is the inverse of Name; false where the program has no such function.
func (im *Image) Address(function string, offset uint64) (uint64, bool) {
	start, ok := im.byName[function]
	if digits, bare := strings.CutPrefix(function, unnamed); !ok && bare {
		v, err := strconv.ParseUint(digits, 16, 64)
		if _, begins := slices.BinarySearch(im.starts, v); err != nil || !begins && v != im.lo {
			return 0, false
		}
		start, ok = v, true
	}
	if !ok || !im.holds(start+offset) {
		return 0, false
	}
	return start + offset, true
}

// Bounds are the first link-time address of the code and the one behind its last.
func (im *Image) Bounds() (lo, hi uint64) { return im.lo, im.hi }

// Base is what a process adds to link-time addresses. /proc/PID/exe is of no use: a server may be
// started through a loader of its own.
func (im *Image) Base(pid int) (uint64, error) {
	real, err := filepath.EvalSymlinks(im.Path)
	if err != nil {
		return 0, fmt.Errorf("find a server's program: %w", err)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, fmt.Errorf("find a server's program in its memory: %w", err)
	}
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(strings.TrimSpace(line), real) {
			from, _, _ := strings.Cut(line, "-")
			base, err := strconv.ParseUint(from, 16, 64)
			if err != nil {
				return 0, fmt.Errorf("read a server's memory map: %w", err)
			}
			return base - im.load, nil
		}
	}
	return 0, fmt.Errorf("process %d does not run %s", pid, real)
}
