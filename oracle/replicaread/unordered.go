package replicaread

import "github.com/txnfuzz/txnfuzz/oracle/history"

// bag counts the rows of all tables.
type bag map[row]int

type row struct{ table, text string }

func bagOf(c history.Content) bag {
	out := bag{}
	for _, t := range c {
		for _, text := range t.Rows {
			out[row{t.Table, text}]++
		}
	}
	return out
}

// less returns what makes one bag of another.
func (b bag) less(other bag) bag {
	out := bag{}
	for r, n := range b {
		out[r] += n
	}
	for r, n := range other {
		if out[r] -= n; out[r] == 0 {
			delete(out, r)
		}
	}
	return out
}

// mostUnordered bounds the commits of which all subsets are tried.
const mostUnordered = 16

// unordered judges the reads of a session on a replica where a transaction is there as a whole or not at all, in no
// order: what a read shows beyond the first state is what some of the commits changed. Sessions may go back there.
func (j *judge) unordered(reads []history.ReplicaRead) (undecided int, wrong *history.WrongRead) {
	changes := make([]bag, len(j.r.States))
	for k := 1; k < len(changes); k++ {
		changes[k] = bagOf(j.content(k)).less(bagOf(j.content(k - 1)))
	}
	type look struct{ content, last int }
	right := map[look]bool{} // of what was looked at
	for i, read := range reads {
		last := j.places[j.last(read)].state
		if right[look{read.Content, last}] {
			continue
		}
		if last > mostUnordered {
			undecided++
			continue
		}
		open := bagOf(j.r.Contents[read.Content]).less(bagOf(j.content(0)))
		switch {
		case sums(open, changes[1:last+1]):
			right[look{read.Content, last}] = true
		case j.unseen(last):
			undecided++
		default:
			out := j.wrong(reads, i)
			if out.Shape == history.ReadBack || out.Shape == history.ReadStale {
				out.Shape = history.ReadNoState
			}
			return undecided, out
		}
	}
	return undecided, nil
}

// unseen says that up to a state there were some that nobody saw.
func (j *judge) unseen(last int) bool {
	for k := 1; k <= last; k++ {
		if len(j.r.States[k].Commits) > 1 {
			return true
		}
	}
	return false
}

// sums says that some of the changes together make a bag.
func sums(open bag, changes []bag) bool {
	if len(open) == 0 {
		return true
	}
	if len(changes) == 0 {
		return false
	}
	return sums(open.less(changes[0]), changes[1:]) || sums(open, changes[1:])
}
