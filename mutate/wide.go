package mutate

import (
	"encoding/binary"
	"slices"
)

// A wide input has more than two transactions. Behind the bytes of other inputs it
// has a mark, which no other input has at that place, how many transactions there are,
// and lanes that are theirs alone: for each one more as long as those of the first two,
// and a longer one for the order.
const (
	wideMark     = "\x00\xfftxns\xff"
	wideHead     = len(wideMark) + 1
	wideTxLen    = (PlainLen / blockLen) * 8 // as Tx1Lane
	wideOrderLen = 96
	// WideLen is the length of a wide input.
	WideLen = InputLen + wideHead + (MaxTx-2)*wideTxLen + wideOrderLen

	// MaxTx is the largest number of transactions that an input asks for.
	MaxTx = 4
)

// isWide says whether an input has the mark.
func isWide(data []byte) bool {
	return len(data) >= InputLen+wideHead && string(data[InputLen:InputLen+len(wideMark)]) == wideMark
}

// transactionsOf is the number of transactions that an input asks for, 0 if it leaves
// that to the options.
func transactionsOf(data []byte) int {
	if !isWide(data) {
		return 0
	}
	return 3 + int(data[InputLen+len(wideMark)])*(MaxTx-2)>>8
}

// WideInput returns the input of WideLen bytes that belongs to a seed and asks for a
// number of transactions from 3 to MaxTx. Its front is that of InputOf.
func WideInput(seed uint64, transactions int) []byte {
	out := InputOf(seed, WideLen)
	copy(out[InputLen:], wideMark)
	k := min(max(transactions, 3), MaxTx) - 3
	out[InputLen+len(wideMark)] = byte((k*256 + MaxTx - 3) / (MaxTx - 2))
	return out
}

// Cut leaves out the bytes of an input that are without effect.
func Cut(data []byte) []byte {
	if isWide(data) {
		return data[:min(len(data), WideLen)]
	}
	return data[:min(len(data), InputLen)]
}

// wideLane returns a lane of a wide input that lies behind the others; ok is false of
// the lanes that lie where those of other inputs do.
func wideLane(data []byte, l Lane) (lane []byte, ok bool) {
	at, n := InputLen+wideHead, wideTxLen
	switch l {
	case Tx3Lane:
	case Tx4Lane:
		at += wideTxLen
	case OrderLane:
		at, n = at+(MaxTx-2)*wideTxLen, wideOrderLen
	default:
		return nil, false
	}
	return data[min(at, len(data)):min(at+n, len(data))], true
}

// widen gives a stored case the transactions that the input asks for besides its own.
// Their turns lie anywhere among its own.
func (d *draft) widen(src Source, o *Options) {
	if len(d.sessions) < 2 || len(d.tables) == 0 {
		return
	}
	for i := len(d.sessions); i < transactionsOf(src.Input()); i++ {
		l := laneOfSession(i)
		turns := splitMix(binary.LittleEndian.Uint64(src.Bytes(l, 8)))
		number := 1
		for slices.ContainsFunc(d.sessions, func(s session) bool { return s.number == number }) {
			number++
		}
		s := session{number: number, stmts: transaction(src, l, d.tables, o)}
		if level, ok := d.levels[d.sessions[0].number]; ok {
			d.levels[number] = level
		}
		d.sessions = append(d.sessions, s)
		c := random(&turns)
		for range s.stmts {
			d.own = slices.Insert(d.own, c.below(len(d.own)+1), i)
		}
	}
}
