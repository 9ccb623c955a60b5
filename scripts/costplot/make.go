package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
)

// histories are what is measured: name, format, and what a transaction of it is.
var histories = []struct {
	name, says string
	make       func(w io.Writer, transactions int) error
}{
	{"lists", "lists, 4.5 operations", makeLists},
	{"registers", "registers, mini-transactions", makeRegisters},
}

const sessions = 20

// makeLists writes transactions that ran one after another as EDN: one to eight
// operations, half of them appends, on a hundred lists at a time, each of which ends
// with 32 elements.
func makeLists(w io.Writer, transactions int) error {
	const open, longest = 100, 32
	r := rand.New(rand.NewPCG(1, 1))
	b := bufio.NewWriterSize(w, 1<<20)
	var key, length [open]int
	for i := range key {
		key[i] = i
	}
	fresh := open
	var line []byte
	for n := range transactions {
		line = fmt.Appendf(line[:0], "{:index %d, :type :ok, :process %d, :f :txn, :value [", n, r.IntN(sessions))
		for i := range 1 + r.IntN(8) {
			if i > 0 {
				line = append(line, ' ')
			}
			at := r.IntN(open)
			if r.IntN(2) == 0 {
				length[at]++
				line = fmt.Appendf(line, "[:append %d %d]", key[at], length[at])
				if length[at] == longest {
					key[at], length[at] = fresh, 0
					fresh++
				}
				continue
			}
			line = fmt.Appendf(line, "[:r %d [", key[at])
			for v := 1; v <= length[at]; v++ {
				if v > 1 {
					line = append(line, ' ')
				}
				line = strconv.AppendInt(line, int64(v), 10)
			}
			line = append(line, "]]"...)
		}
		line = append(line, "]}\n"...)
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	return b.Flush()
}

// makeRegisters writes transactions that ran one after another as text: one or two
// reads of different keys, each followed by a write of its key half of the time. There
// is a key for each hundred transactions.
func makeRegisters(w io.Writer, transactions int) error {
	keys := max(2, transactions/100)
	r := rand.New(rand.NewPCG(1, 2))
	b := bufio.NewWriterSize(w, 1<<20)
	value := make([]int, keys) // 0: what a key holds at first
	next := 1
	for n := range transactions {
		session := r.IntN(sessions)
		first := r.IntN(keys)
		for i := range 1 + r.IntN(2) {
			k := first
			if i == 1 {
				k = (first + 1 + r.IntN(keys-1)) % keys
			}
			fmt.Fprintf(b, "r(%d,%d,%d,%d)\n", k, value[k], session, n)
			if r.IntN(2) == 0 {
				value[k] = next
				next++
				fmt.Fprintf(b, "w(%d,%d,%d,%d)\n", k, value[k], session, n)
			}
		}
	}
	return b.Flush()
}
