package races

import "fmt"

// dangerous is a scene of the structure that each cycle of transactions on snapshots has: one (in) does not see what
// another one (pivot) writes, which does not see what a third one (out) writes; the third one commits first, and comes
// before the first one, which sees its change or overwrites what it has read. A server that looks for this structure
// must see it whatever its transactions are in the middle of.
// Fekete et al., Making Snapshot Isolation Serializable, ACM TODS 30, 2005.
type dangerous struct {
	rowsOfOne
	// left are the transactions that no session has yet.
	left [][]string
}

func newDangerous(m *maker) *dangerous {
	keys := m.Perm(rows)
	read := func(i int) string { return fmt.Sprintf("SELECT v FROM t WHERE k = %d", keys[i]+1) }
	write := func(i int) string { return fmt.Sprintf("UPDATE t SET v = %d WHERE k = %d", m.value(), keys[i]+1) }
	of := func(statements ...string) []string { return append(append([]string{"BEGIN"}, statements...), "COMMIT") }
	in, pivot, out := of(read(1), read(0)), of(write(0), read(1)), of(write(1))
	if m.IntN(2) == 0 {
		pivot = of(read(1), write(0))
	}
	if m.IntN(3) == 0 {
		in, out = of(read(0), write(2)), of(read(2), write(1))
	}
	d := &dangerous{left: [][]string{in, pivot, out}}
	m.Shuffle(3, func(i, j int) { d.left[i], d.left[j] = d.left[j], d.left[i] })
	return d
}

func (d *dangerous) next() []string {
	all := d.left[0]
	d.left = d.left[1:]
	return all
}

// held is mostly a COMMIT.
func (d *dangerous) held(m *maker) script {
	all := d.next()
	at := len(all) - 1
	if m.IntN(3) == 0 {
		at = 1 + m.IntN(at)
	}
	return script{before: all[:at+1], after: all[at+1:]}
}

// other runs while the hold lasts as a whole, or only commits then, or is in its middle.
func (d *dangerous) other(m *maker) script {
	all := d.next()
	from, to := 0, len(all)
	switch m.IntN(4) {
	case 0:
	case 1:
		from = to - 1
	default:
		from = m.IntN(to - 1)
		to = from + 1 + m.IntN(to-from-1)
	}
	return script{before: all[:from], during: all[from:to], after: all[to:]}
}
