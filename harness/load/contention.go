package load

import (
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// rowsOf is what a transaction read and wrote, whatever became of it.
type rowsOf struct {
	from, until   int64
	reads, writes []kv.Value
	met           bool
}

func rowsTouched(e event, into *rowsOf) {
	into.from, into.until, into.reads, into.writes, into.met = e.invoke, e.ret, into.reads[:0], into.writes[:0], false
	if e.ret == kv.Unknown {
		into.until = 1<<63 - 1
	}
	for _, o := range e.ops() {
		switch {
		case o.Kind == kv.ReadPredicate:
			for i := 0; i+1 < len(o.List); i += 2 {
				into.reads = with(into.reads, o.List[i])
			}
		case o.Kind.IsRead():
			into.reads = with(into.reads, o.Key)
		default:
			into.writes = with(into.writes, o.Key)
		}
	}
}

// contended counts the transactions that met another one on a row: both were under way,
// and one of them wrote what the other read or wrote. events are in the order in which
// they were sent.
func contended(events []event) (met, of int) {
	var open, spare []*rowsOf
	for _, e := range events {
		if e.part || e.session == readerSession {
			continue
		}
		of++
		var t *rowsOf
		if n := len(spare); n > 0 {
			t, spare = spare[n-1], spare[:n-1]
		} else {
			t = &rowsOf{}
		}
		rowsTouched(e, t)
		open = slices.DeleteFunc(open, func(o *rowsOf) bool {
			gone := o.until < t.from
			if gone {
				spare = append(spare, o)
			}
			return gone
		})
		for _, o := range open {
			meet := common(t.writes, o.writes, 1) || common(t.writes, o.reads, 1) || common(t.reads, o.writes, 1)
			if t.met && o.met || !meet {
				continue
			}
			for _, x := range []*rowsOf{t, o} {
				if !x.met {
					x.met = true
					met++
				}
			}
		}
		open = append(open, t)
	}
	return met, of
}
