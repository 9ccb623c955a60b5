package powerloss

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// kind is what a record tells of.
type kind uint32

const (
	write    kind = 'w' // bytes of a file are replaced, behind its end some come
	truncate kind = 't' // the end of a file is cut off, or room is made behind it
	create   kind = 'c'
	rename   kind = 'r'
	unlink   kind = 'u'
	link     kind = 'l'
	mkdir    kind = 'm'
	rmdir    kind = 'd'

	fsync     kind = 'F'
	fdatasync kind = 'D'
	syncAll   kind = 'S'
)

// record is one of the journal: of a change before it is made, of a sync when it has succeeded.
type record struct {
	kind
	links       uint32 // of a file that loses a name
	seq, ino    uint64
	offset      int64  // in the file; of a rename, the inode of the file that is replaced
	old         []byte // what was there, from offset on
	size        int64  // of the file before
	more        uint64 // bytes that are written; when a sync began; number of a saved file, 0: none; mode of a folder
	path, path2 string
}

// onDisk is the part of a record that all kinds have.
type onDisk struct {
	Kind, Path, Path2, Flags uint32
	Seq, Ino                 uint64
	Offset, Length, Size     int64
	More                     uint64
}

var recordSize = binary.Size(onDisk{})

// parse reads all records of a journal.
func parse(b []byte) (out []record, err error) {
	for at := 0; at < len(b); {
		rest := b[at:]
		var d onDisk
		if len(rest) < recordSize {
			return nil, fmt.Errorf("the journal ends within a record, at %d", at)
		}
		if err := binary.Read(bytes.NewReader(rest), binary.LittleEndian, &d); err != nil {
			return nil, err
		}
		paths := recordSize + int(d.Path)
		old := paths + int(d.Path2)
		if d.Length < 0 || d.Length > int64(len(rest)-old) {
			return nil, fmt.Errorf("the journal ends within a record, at %d", at)
		}
		end := old + int(d.Length)
		out = append(out, record{
			kind: kind(d.Kind), links: d.Flags, seq: d.Seq, ino: d.Ino, offset: d.Offset, old: rest[old:end],
			size: d.Size, more: d.More, path: string(rest[recordSize:paths]), path2: string(rest[paths:old]),
		})
		at += end
	}
	return out, nil
}

// grows tells whether a change makes its file longer.
func (r *record) grows() bool { return r.kind == write && r.offset+int64(r.more) > r.size }

// standing returns the changes that no sync has made durable, as they came; see the package's comment. It marks the
// others in place.
func standing(records []record) (out []*record) {
	durable := make([]bool, len(records))
	data := map[uint64][]int{} // by inode, changes of its contents that are not durable
	var names []int            // changes of names, and of sizes without data
	settle := func(ino, until uint64) {
		left := data[ino]
		for len(left) > 0 && records[left[0]].seq <= until {
			durable[left[0]] = true
			left = left[1:]
		}
		data[ino] = left
	}
	commit := func(until uint64) {
		for len(names) > 0 && records[names[0]].seq <= until {
			r := &records[names[0]]
			durable[names[0]] = true
			names = names[1:]
			switch {
			case r.kind == truncate, r.kind == rename:
				settle(r.ino, r.seq)
				// An inode whose last name is gone may be another file's from here on.
				if r.kind == rename && r.links == 1 {
					settle(uint64(r.offset), r.seq)
				}
			case r.kind == unlink && r.links == 1:
				settle(r.ino, r.seq)
			}
		}
	}
	for i := range records {
		r := &records[i]
		switch r.kind {
		case write:
			data[r.ino] = append(data[r.ino], i)
		case truncate:
			data[r.ino] = append(data[r.ino], i)
			names = append(names, i)
		case fsync:
			settle(r.ino, r.more)
			commit(r.more)
		case fdatasync:
			sized := false
			for _, k := range data[r.ino] {
				c := &records[k]
				sized = sized || c.seq <= r.more && (c.grows() || c.kind == truncate)
			}
			settle(r.ino, r.more)
			if sized {
				commit(r.more)
			}
		case syncAll:
			for ino := range data {
				settle(ino, r.more)
			}
			commit(r.more)
		default:
			names = append(names, i)
		}
	}
	for i := range records {
		switch k := records[i].kind; {
		case durable[i], k == fsync, k == fdatasync, k == syncAll:
		default:
			out = append(out, &records[i])
		}
	}
	return out
}
