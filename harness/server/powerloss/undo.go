package powerloss

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/txnfuzz/txnfuzz/harness"
)

// sector is what a disk writes as a whole, in bytes: a block of the file system, too.
const sector = 4096

// Undo undoes what the server, which must be dead, has changed and not synced, and calls everything durable that is left.
// With tear, half of the sectors of a file that were overwritten stay as they are, since a kernel and a disk may write
// back what they like; seed tells which.
func (j *Journal) Undo(tear bool, seed uint64) (out harness.Undone, err error) {
	err = j.change(func(f *os.File, h *header) error {
		b := make([]byte, h.Used)
		if _, err := io.ReadFull(io.NewSectionReader(f, headerSize, int64(h.Used)), b); err != nil {
			return err
		}
		records, err := parse(b)
		if err != nil {
			return err
		}
		out, err = j.undo(standing(records), tear, seed)
		if err != nil {
			return err
		}
		out.Full, out.Uncovered = int(h.Full), h.uncovered()
		if err := j.clearSaved(); err != nil {
			return err
		}
		// The used pages go back to the disk.
		if err = f.Truncate(headerSize); err == nil {
			err = f.Truncate(int64(h.Size))
		}
		h.Lock, h.Waiters, h.Used, h.Full, h.FirstSaved, h.Uncovered = 0, 0, 0, 0, h.NextSaved, [32][64]byte{}
		return err
	})
	if err != nil {
		return out, fmt.Errorf("undo what was not synced: %w", err)
	}
	return out, nil
}

func (j *Journal) clearSaved() error {
	entries, err := os.ReadDir(filepath.Join(j.dir, savedName))
	for _, e := range entries {
		err = errors.Join(err, os.Remove(filepath.Join(j.dir, savedName, e.Name())))
	}
	return err
}

// undo brings contents back first and then names: neither depends on the other, since a file that has lost its last name
// has a saved one.
func (j *Journal) undo(changes []*record, tear bool, seed uint64) (out harness.Undone, err error) {
	data := map[uint64][]*record{}
	var names []*record
	for _, c := range changes {
		if c.kind == write || c.kind == truncate {
			data[c.ino] = append(data[c.ino], c)
		} else {
			names = append(names, c)
		}
	}
	paths, err := j.inodes()
	if err != nil {
		return out, err
	}
	for ino, list := range data {
		path, ok := paths[ino]
		if !ok {
			continue // it was a file without a name
		}
		t := tearing{}
		if tear {
			t = j.tears(path, seed)
		}
		n, err := restore(path, list, t)
		if err != nil {
			return out, err
		}
		out.Files++
		if out.Changed == nil {
			out.Changed = map[string]int{}
		}
		out.Changed[strings.TrimPrefix(strings.TrimPrefix(path, j.data), "/")] += len(list)
		out.Writes += len(list)
		out.Bytes += n
		for _, stays := range t.stays {
			if stays {
				out.Kept++
			}
		}
	}
	slices.Reverse(names)
	for _, c := range names {
		if err := j.rename(c); err != nil {
			return out, err
		}
	}
	out.Names = len(names)
	return out, nil
}

// inodes returns the paths of all files by their inodes.
func (j *Journal) inodes() (map[uint64]string, error) {
	paths := map[uint64]string{}
	for _, dir := range []string{filepath.Join(j.dir, savedName), j.data} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			ino, err := inode(path)
			paths[ino] = path
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return paths, nil
}

func inode(path string) (uint64, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("%s has no inode", path)
	}
	return st.Ino, nil
}

// tearing chooses the sectors of a file that stay as they are; the zero value: none.
type tearing struct {
	random *rand.Rand
	stays  map[int64]bool
}

// tears draws by a file's name, since its inode differs from run to run.
func (j *Journal) tears(path string, seed uint64) tearing {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.TrimPrefix(path, j.data)))
	return tearing{rand.New(rand.NewPCG(seed, h.Sum64())), map[int64]bool{}}
}

func (t tearing) keeps(sector int64) bool {
	if t.random == nil {
		return false
	}
	keeps, known := t.stays[sector]
	if !known {
		keeps = t.random.Uint64()&1 == 0
		t.stays[sector] = keeps
	}
	return keeps
}

// restore undoes changes of one file, the last one first, and returns how many bytes it brings back.
func restore(path string, changes []*record, t tearing) (n int64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for _, c := range slices.Backward(changes) {
		// A size is the file system's, and its journal's as a whole.
		if err := f.Truncate(c.size); err != nil {
			return n, err
		}
		if c.kind == truncate {
			t = tearing{}
		}
		for at := int64(0); at < int64(len(c.old)); {
			place := c.offset + at
			end := min(int64(len(c.old)), (place/sector+1)*sector-c.offset)
			if !t.keeps(place / sector) {
				if _, err := f.WriteAt(c.old[at:end], place); err != nil {
					return n, err
				}
				n += end - at
			}
			at = end
		}
	}
	return n, f.Close()
}

// rename undoes a change of a name. What the record announced may never have happened.
func (j *Journal) rename(c *record) error {
	saved := func(name string) error {
		if c.more == 0 {
			return nil
		}
		return ignoring(os.Rename(filepath.Join(j.dir, savedName, strconv.FormatUint(c.more, 10)), name), os.ErrNotExist)
	}
	switch c.kind {
	case create:
		return ignoring(os.Remove(c.path), os.ErrNotExist)
	case link:
		return ignoring(os.Remove(c.path), os.ErrNotExist)
	case mkdir:
		return ignoring(os.Remove(c.path), os.ErrNotExist)
	case rmdir:
		return j.folderAgain(c)
	case unlink:
		return saved(c.path)
	case rename:
		if ino, err := inode(c.path2); err != nil || ino != c.ino {
			return ignoring(err, os.ErrNotExist)
		}
		if err := os.Rename(c.path2, c.path); err != nil {
			return err
		}
		return saved(c.path2)
	}
	return fmt.Errorf("the journal has a record of kind %q", rune(c.kind))
}

// folderAgain makes a folder that was removed; it belongs to whom the data directory does.
func (j *Journal) folderAgain(c *record) error {
	if err := os.Mkdir(c.path, fs.FileMode(c.more)); err != nil {
		return ignoring(err, os.ErrExist)
	}
	info, err := os.Stat(j.data)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return os.Lchown(c.path, int(st.Uid), int(st.Gid))
	}
	return nil
}

func ignoring(err, ignored error) error {
	if errors.Is(err, ignored) {
		return nil
	}
	return err
}
