package replicaread

import (
	"fmt"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Ruling is what the reads of a history come to.
type Ruling struct {
	// Reads counts what was judged, and Undecided those of them that may be states which nobody saw on the primary.
	Reads, Undecided int
	// Wrong is nil where nothing is wrong.
	Wrong *history.WrongRead
}

// Judge judges the reads of a history. A history that broke off, or in which it is not known what came before what, has
// nothing to be judged.
func Judge(h *history.History) Ruling {
	r := h.Reads
	if r == nil || len(r.States) == 0 || h.End != history.Complete || h.Held() || h.Silent() {
		return Ruling{}
	}
	j := newJudge(h)
	out := Ruling{Reads: len(r.Reads)}
	for _, reads := range bySession(r.Reads) {
		undecided, wrong := 0, (*history.WrongRead)(nil)
		if r.Promise.Ordered {
			undecided, wrong = j.ordered(reads)
		} else {
			undecided, wrong = j.unordered(reads)
		}
		out.Undecided += undecided
		if wrong != nil {
			out.Wrong = wrong
			break
		}
	}
	return out
}

func bySession(reads []history.ReplicaRead) (out [][]history.ReplicaRead) {
	for _, r := range reads {
		for len(out) < r.Session {
			out = append(out, nil)
		}
		out[r.Session-1] = append(out[r.Session-1], r)
	}
	return out
}

type judge struct {
	h *history.History
	r *history.ReplicaReads
	// places are those in the primary's history where a read may lie, in their order.
	places []place
}

// place is a state in which the primary was seen, or one that came before that state, behind the one before it, and that
// nobody saw: there are as many as statements that may have committed then, but for the last.
type place struct {
	state int
	seen  bool
}

func newJudge(h *history.History) *judge {
	j := &judge{h: h, r: h.Reads}
	for k, s := range j.r.States {
		for range len(s.Commits) - 1 {
			j.places = append(j.places, place{state: k})
		}
		j.places = append(j.places, place{k, true})
	}
	return j
}

// none says that there is no such place.
const none = -1

// ordered judges the reads of a session on a replica that goes through the states of its primary.
func (j *judge) ordered(reads []history.ReplicaRead) (undecided int, wrong *history.WrongRead) {
	// The session is at the place seen at the least if each read is taken for a state that was seen where it can be, and
	// at least where states that nobody saw are made use of. The earliest is the best: it leaves most to those that follow.
	seen, least, at := 0, 0, 0
	for i, read := range reads {
		first, last := j.first(read), j.last(read)
		stays := i > 0 && reads[i-1].Content == read.Content && least >= first && least <= last
		if !stays {
			taken := none
			if i > 0 {
				taken = least
			}
			least = j.earliest(read, max(least, first), last, taken)
		}
		at = j.exactly(read, max(seen, first), last)
		switch {
		case least == none:
			return undecided, j.wrong(reads, i)
		case at == none:
			undecided++
			seen = least
		default:
			seen = at
		}
	}
	return undecided, nil
}

// exactly returns the first place from one to another where the primary was seen to hold what was read.
func (j *judge) exactly(read history.ReplicaRead, first, last int) int {
	for at := first; at <= last && at < len(j.places); at++ {
		if p := j.places[at]; p.seen && j.r.States[p.state].Content == read.Content {
			return at
		}
	}
	return none
}

// earliest is exactly where a state that nobody saw is anything but that in the place taken, which was something else.
func (j *judge) earliest(read history.ReplicaRead, first, last, taken int) int {
	for at := first; at <= last && at < len(j.places); at++ {
		p := j.places[at]
		if !p.seen && at != taken || p.seen && j.r.States[p.state].Content == read.Content {
			return at
		}
	}
	return none
}

// last is the last place that a read can have seen: the statements behind that were not yet sent.
func (j *judge) last(read history.ReplicaRead) (last int) {
	for at, p := range j.places {
		if p.state == 0 || j.r.States[p.state].Begun <= read.Until {
			last = at
		}
	}
	return last
}

// first is the first place that a read must have seen: what had been acknowledged before it began, if that is promised.
func (j *judge) first(read history.ReplicaRead) (first int) {
	if !j.r.Promise.Fresh {
		return 0
	}
	for at, p := range j.places {
		open := func(at int) bool { r := j.h.Stmts[at].Return; return r == 0 || r > read.From }
		if p.seen && !slices.ContainsFunc(j.r.States[p.state].Commits, open) {
			first = at
		}
	}
	return first
}

// wrong tells what is wrong with the read of a session with an index.
func (j *judge) wrong(reads []history.ReplicaRead, i int) *history.WrongRead {
	read := reads[i]
	out := &history.WrongRead{Session: read.Session, Read: j.r.Contents[read.Content].String(), Promised: j.r.Promise.Says}
	if i > 0 {
		out.Before = j.r.Contents[reads[i-1].Content].String()
	}
	for k, s := range j.r.States {
		out.States = append(out.States, fmt.Sprintf("%d. %s%s", k+1, j.r.Contents[s.Content], j.behind(k)))
	}
	// Places that are right but for one thing.
	first, last := j.first(read), j.last(read)
	switch whenever := j.exactly(read, 0, len(j.places)); {
	case whenever == none && j.torn(read.Content):
		out.Shape = history.ReadTorn
	case whenever == none:
		out.Shape = history.ReadNoState
	case j.exactly(read, 0, last) == none:
		out.Shape = history.ReadEarly
	case j.exactly(read, first, last) == none:
		out.Shape = history.ReadStale
	default:
		out.Shape = history.ReadBack
	}
	return out
}

// behind names the lines behind which a state was seen.
func (j *judge) behind(k int) string {
	text := ""
	for n, at := range j.r.States[k].Commits {
		sep := ", "
		if n == 0 {
			sep = " behind "
		}
		text += fmt.Sprintf("%sstep %d", sep, j.h.Stmts[at].Line+1)
	}
	return text
}

// torn says that each row of a content is one of a state or of the one behind it, as if part of what lies between were
// there.
func (j *judge) torn(content int) bool {
	read := bagOf(j.r.Contents[content])
	for k := 1; k < len(j.r.States); k++ {
		was, is := bagOf(j.content(k-1)), bagOf(j.content(k))
		within := true
		for _, b := range []bag{read, was, is} {
			for row := range b {
				n, low, high := read[row], min(was[row], is[row]), max(was[row], is[row])
				within = within && n >= low && n <= high
			}
		}
		if within {
			return true
		}
	}
	return false
}

func (j *judge) content(k int) history.Content { return j.r.Contents[j.r.States[k].Content] }
