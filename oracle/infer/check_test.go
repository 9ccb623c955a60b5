package infer_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/txnfuzz/txnfuzz/oracle/infer"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// TestAnomalies judges hand-made histories. A line of a history is a session, a
// status, times if they matter (@invoke-return), and operations: ax1 appends 1
// to x, rx12 reads x as [1 2] (of registers: r12 is not to be had), wx1 writes,
// rx_ reads nothing, sx1 adds to a set, dx deletes, ix1 inserts,
// p=1{x1,y2} reads a predicate.
func TestAnomalies(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			h, err := parse(d.Cmd, d.Input)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			for _, a := range d.CmdArgs {
				switch a.Key {
				case "total":
					n, _ := strconv.ParseInt(a.Vals[0], 10, 64)
					h.Header.Total = &n
				}
			}
			res, err := infer.Check(h, infer.Options{})
			if err != nil {
				return err.Error() + "\n"
			}
			return summary(h, res, d.HasArg("steps"))
		})
	})
}

func summary(h *kv.History, res *infer.Result, steps bool) string {
	var b strings.Builder
	for _, g := range res.Anomalies {
		fmt.Fprintf(&b, "%s %d\n", g.Kind, g.Count)
		if steps {
			for i, x := range g.Examples[0].Txns {
				fmt.Fprintf(&b, "  T%d: %s\n", i+1, infer.Describe(h, x))
			}
			for _, s := range g.Examples[0].Steps {
				fmt.Fprintf(&b, "  %s\n", s)
			}
		}
	}
	for _, line := range []struct {
		word   string
		models []model.Model
	}{{"holds", model.Strongest(res.Held())}, {"fails", model.Weakest(res.Failed())}, {"undecided", model.Weakest(res.Undecided())}} {
		if len(line.models) > 0 {
			fmt.Fprintf(&b, "%s:", line.word)
			for _, m := range line.models {
				fmt.Fprintf(&b, " %s", m)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func parse(workload, text string) (*kv.History, error) {
	names := &kv.Names{}
	h := kv.NewHistory(kv.Header{Workload: kv.Workload(workload)}, names)
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		r := kv.Record{Invoke: kv.Unknown, Return: kv.Unknown, Place: int64(n + 1)}
		r.Session, _ = strconv.ParseInt(words[0], 10, 64)
		status := map[string]kv.Status{"ok": kv.OK, "fail": kv.Fail, "info": kv.Info}
		s, ok := status[words[1]]
		if !ok {
			return nil, fmt.Errorf("line %d: status %q", n+1, words[1])
		}
		r.Status = s
		for _, w := range words[2:] {
			if w[0] == '@' {
				if c, _ := fmt.Sscanf(w, "@%d-%d", &r.Invoke, &r.Return); c < 1 {
					return nil, fmt.Errorf("line %d: times %q", n+1, w)
				}
				continue
			}
			o := kv.RecordOp{}
			number := func(s string) kv.Value {
				if s == "_" {
					return kv.Nil
				}
				v, err := strconv.Atoi(s)
				if err != nil {
					panic(fmt.Sprintf("line %d: %q", n+1, w))
				}
				return kv.Value(v)
			}
			if w[0] == 'p' {
				i := strings.IndexByte(w, '{')
				o.Kind, o.Val = kv.ReadPredicate, names.Of([]byte(strings.ReplaceAll(w[1:i], ":", " ")))
				for _, e := range strings.FieldsFunc(w[i+1:len(w)-1], func(r rune) bool { return r == ',' }) {
					o.List = append(o.List, names.Of([]byte(e[:1])), number(e[1:]))
				}
				r.Ops = append(r.Ops, o)
				continue
			}
			o.Key = names.Of([]byte(w[1:2]))
			rest := w[2:]
			switch w[0] {
			case 'r':
				switch workload {
				case "append", "set":
					o.Kind = kv.ReadList
					if workload == "set" {
						o.Kind = kv.ReadSet
					}
					for _, c := range rest {
						o.List = append(o.List, number(string(c)))
					}
				default:
					o.Kind, o.Val = kv.Read, number(rest)
				}
			case 'd':
				o.Kind = kv.Delete
			default:
				o.Kind = map[byte]kv.Kind{'a': kv.Append, 'w': kv.Write, 's': kv.Add, 'i': kv.Insert, 'j': kv.Init}[w[0]]
				o.Val = number(rest)
			}
			r.Ops = append(r.Ops, o)
		}
		h.Add(&r)
	}
	return h, nil
}
