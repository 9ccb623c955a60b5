package versions

import "testing"

// A stronger mode stands against all that a weaker one does, and two stand against each other
// or do not.
func TestModes(t *testing.T) {
	for a := KeyShare; a <= Exclusive; a++ {
		for b := KeyShare; b <= Exclusive; b++ {
			if a.Conflicts(b) != b.Conflicts(a) {
				t.Errorf("%d and %d: only one stands against the other", a, b)
			}
			if a < Exclusive && a.Conflicts(b) && !(a + 1).Conflicts(b) {
				t.Errorf("%d stands against %d, the stronger %d does not", a, b, a+1)
			}
		}
		if !a.Conflicts(Exclusive) {
			t.Errorf("%d does not stand against an exclusive lock", a)
		}
	}
}

func TestHolder(t *testing.T) {
	row, other := &Chain{ID: 1}, &Chain{ID: 2}
	reader, writer, ended := &Txn{Session: 1}, &Txn{Session: 2}, &Txn{Session: 3, Ended: 9}
	var ls Locks
	ls.Take(Lock{Txn: ended, Row: row, Mode: Exclusive})
	ls.Take(Lock{Txn: reader, Row: row, Mode: Share})
	ls.Take(Lock{Txn: writer, Row: other, Mode: Exclusive})
	ls.Take(Lock{Txn: writer, Row: other, Mode: Share})
	if len(ls) != 3 {
		t.Errorf("%d locks, want 3: an exclusive lock covers a share lock", len(ls))
	}
	for _, x := range []struct {
		name string
		tx   *Txn
		row  *Chain
		mode Mode
		want *Txn
	}{
		{"a share lock beside a share lock; who held the row exclusively has ended", writer, row, Share, nil},
		{"an exclusive lock beside a share lock", writer, row, Exclusive, reader},
		{"beside one's own", reader, row, Exclusive, nil},
		{"a share lock beside an exclusive lock", reader, other, Share, writer},
	} {
		if got := ls.Holder(x.tx, x.row, x.mode); got != x.want {
			t.Errorf("%s: %v, want %v", x.name, got, x.want)
		}
	}
}
