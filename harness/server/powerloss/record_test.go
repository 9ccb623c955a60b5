package powerloss

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestStanding: which changes no sync has made durable. Records are numbered from 1, as they come.
func TestStanding(t *testing.T) {
	grow := record{kind: write, ino: 1, more: 10}
	over := record{kind: write, ino: 1, size: 10, more: 10}
	other := record{kind: write, ino: 2, size: 10, more: 10}
	cut := record{kind: truncate, ino: 1, size: 10}
	made := record{kind: create, path: "new"}
	renamed := record{kind: rename, ino: 1, path: "a", path2: "b"}
	removed := record{kind: unlink, ino: 1, links: 1, path: "a"}
	sync := func(k kind, ino, began uint64) record { return record{kind: k, ino: ino, more: began} }
	for _, c := range []struct {
		name    string
		records []record
		want    []uint64
	}{
		{"nothing is synced", []record{over, made, other}, []uint64{1, 2, 3}},
		{"a file is synced", []record{over, other, sync(fsync, 1, 2)}, []uint64{2}},
		{"its data are synced", []record{over, other, sync(fdatasync, 1, 2)}, []uint64{2}},
		{"what came while the sync ran is not", []record{over, over, sync(fsync, 1, 1)}, []uint64{2}},
		{"what came after it is not", []record{over, sync(fsync, 1, 1), over}, []uint64{3}},
		{"the sync of any file makes names durable", []record{made, other, sync(fsync, 1, 2)}, []uint64{2}},
		{"but none that came while it ran", []record{other, made, sync(fsync, 1, 1)}, []uint64{1, 2}},
		{"the sync of data does not, where the size stays", []record{made, over, sync(fdatasync, 1, 2)}, []uint64{1}},
		{"but where it grows", []record{made, grow, sync(fdatasync, 1, 2)}, nil},
		{"and where it shrinks", []record{made, cut, sync(fdatasync, 1, 2)}, nil},
		{"a cut is the journal's, and what was written before it comes along", []record{over, cut, over, sync(fsync, 2, 3)}, []uint64{3}},
		{"a new name takes the data along", []record{over, renamed, over, sync(fsync, 2, 3)}, []uint64{3}},
		{"a file that is removed for good takes its writes along", []record{over, removed, sync(fsync, 2, 2)}, nil},
		{"so does one that is replaced", []record{other, {kind: rename, ino: 1, offset: 2, links: 1}, sync(fsync, 3, 2)}, nil},
		{"not while it has another name", []record{over, {kind: unlink, ino: 1, links: 2}, sync(fsync, 2, 2)}, []uint64{1}},
		{"all is synced", []record{over, made, other, sync(syncAll, 0, 3), over}, []uint64{5}},
	} {
		var got []uint64
		for i := range c.records {
			c.records[i].seq = uint64(i + 1)
		}
		for _, r := range standing(c.records) {
			got = append(got, r.seq)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestDamagedJournal(t *testing.T) {
	for _, b := range [][]byte{{1, 2, 3}, append(make([]byte, 40), 255, 255, 255, 127), make([]byte, recordSize-1)} {
		if records, err := parse(b); err == nil {
			t.Errorf("%d bytes are taken for %v", len(b), records)
		}
	}
}
