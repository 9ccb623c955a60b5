package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// Lost is what was acknowledged and was not there when everything was read
// afterwards, whatever the level: a commit is durable at each of them.
type Lost struct {
	// Key was written, and acknowledged, by Writer; Reader came later.
	Key            kv.Value
	Writer, Reader event
	Says           string
}

// lost compares what was acknowledged in an epoch with the read of all keys at
// its end. events hold that read, too.
func lost(kind kv.Workload, events []event, final event) []Lost {
	switch kind {
	case kv.ListAppend:
		return lostAppends(events, final)
	case kv.Register, kv.Predicate, kv.Mixed:
		return lostWrites(events, final)
	}
	return nil // of a bank: lostTransfers
}

func lostAppends(events []event, final event) []Lost {
	there := map[kv.Value]map[kv.Value]bool{}
	for _, o := range final.ops() {
		m := make(map[kv.Value]bool, len(o.List))
		for _, v := range o.List {
			m[v] = true
		}
		there[o.Key] = m
	}
	var out []Lost
	for _, e := range events {
		if e.status != kv.OK {
			continue
		}
		for _, o := range e.ops() {
			if o.Kind == kv.Append && !there[o.Key][o.Val] {
				out = append(out, Lost{Key: o.Key, Writer: e, Reader: final,
					Says: fmt.Sprintf("the append of %d to key %d was acknowledged and is not in the list that was read afterwards", o.Val, o.Key)})
			}
		}
	}
	return out
}

// change is what a transaction left of one key.
type change struct {
	event
	val kv.Value // kv.Nil: deleted
}

// lostWrites looks for keys whose last value was written by a transaction that
// had ended before another one, acknowledged too, began to write the same key.
func lostWrites(events []event, final event) []Lost {
	changes := map[kv.Value][]change{}
	for _, e := range events {
		if e.status == kv.Fail {
			continue
		}
		for _, o := range e.ops() {
			val := o.Val
			switch o.Kind {
			case kv.Write, kv.Insert, kv.Init:
			case kv.Delete:
				val = kv.Nil
			default:
				continue
			}
			c := changes[o.Key]
			if n := len(c); n > 0 && c[n-1].recorded == e.recorded {
				c[n-1].val = val // the transaction's last write counts
			} else {
				c = append(c, change{e, val})
			}
			changes[o.Key] = c
		}
	}
	values := valuesOf(final)
	var out []Lost
	for k, list := range changes {
		val, ok := values[k]
		if !ok {
			val = kv.Nil
		}
		// The key shows what ended at the latest; an unknown end is any time.
		shown, known := int64(-1), true
		for _, c := range list {
			if c.val == val {
				if c.status == kv.Info {
					known = false
				}
				shown = max(shown, c.ret)
			}
		}
		if !known || val != kv.Nil && shown < 0 {
			continue // of a value that nobody wrote the checker tells
		}
		for _, c := range list {
			if c.status == kv.OK && c.val != val && c.invoke > shown {
				out = append(out, Lost{Key: k, Writer: c.event, Reader: final,
					Says: fmt.Sprintf("%s was acknowledged and began when whatever wrote the %s that was read afterwards had ended", spellChange(k, c.val), spellValue(val))})
				break
			}
		}
	}
	slices.SortFunc(out, func(a, b Lost) int { return int(a.Key - b.Key) })
	return out
}

// valuesOf returns what a transaction has read of the keys that had a value; one that is missing is kv.Nil, which a map
// does not have by itself.
func valuesOf(final event) map[kv.Value]kv.Value {
	values := map[kv.Value]kv.Value{}
	for _, o := range final.ops() {
		if o.Kind == kv.ReadPredicate {
			for i := 0; i+1 < len(o.List); i += 2 {
				values[o.List[i]] = o.List[i+1]
			}
			continue
		}
		if o.Kind != kv.Versions {
			values[o.Key] = o.Val
		}
	}
	return values
}

func spellChange(k, v kv.Value) string {
	if v == kv.Nil {
		return fmt.Sprintf("the deletion of key %d", k)
	}
	return fmt.Sprintf("the write of %d to key %d", v, k)
}

func spellValue(v kv.Value) string {
	if v == kv.Nil {
		return "nothing"
	}
	return fmt.Sprintf("value %d", v)
}

// lostTransfers tells whether no choice of the transactions without a known
// outcome leads from the balances at an epoch's beginning to those at its end.
// late holds those of the epoch before: they may have taken effect after its end.
func lostTransfers(events []event, late []transfer, before, after map[kv.Value]kv.Value) (says string, open []transfer, undecided bool) {
	missing := map[kv.Value]kv.Value{}
	for k, v := range after {
		missing[k] = v - before[k]
	}
	for _, e := range events {
		if e.status == kv.Fail {
			continue
		}
		sum := transfer{}
		for _, o := range e.ops() {
			if o.Kind == kv.Delta {
				sum[o.Key] += o.Val
			}
		}
		if len(sum) == 0 {
			continue
		}
		if e.status == kv.Info {
			open = append(open, sum)
			continue
		}
		for k, v := range sum {
			missing[k] -= v
		}
	}
	all := slices.Concat(open, late)
	if len(all) > mostUnknown {
		return "", open, true
	}
	if reaches(missing, all) {
		return "", open, false
	}
	says = "the acknowledged transfers do not lead to the balances that were read afterwards: " + spellTransfer(missing)
	return says + unexplained(len(all)), open, false
}

// spellTransfer tells what each account has too much or too little.
func spellTransfer(t transfer) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(t)) {
		if t[k] != 0 {
			of := "much"
			if t[k] < 0 {
				of = "little"
			}
			parts = append(parts, fmt.Sprintf("account %d has %d too %s", k, max(t[k], -t[k]), of))
		}
	}
	return strings.Join(parts, ", ")
}

func unexplained(unknown int) string {
	if unknown == 0 {
		return ""
	}
	return fmt.Sprintf("; no choice among the %s without a known outcome explains that", counted(unknown, "transfer"))
}
