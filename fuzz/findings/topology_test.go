package findings

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/target"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
	"github.com/txnfuzz/txnfuzz/oracle"
)

// shrunk are findings on made-up topologies, and where they end.
var shrunk = []struct {
	name, target string
	kind         oracle.Kind
	// shows says of a target in which of its runs the finding shows there, counted from 0.
	shows func(name string, run int) bool
	want  string
	// opened are the targets that were started, in order.
	opened []string
}{
	{"a server alone", "mysql:9.7,group=3,primary=multi", "dirty-read", func(string, int) bool { return true },
		"mysql:9.7", []string{"mysql:9.7"}},
	{"the binary log of a primary", "mysql:9.7,replica=row,workers=4", "dirty-read",
		func(name string, _ int) bool { return !strings.HasSuffix(name, ":9.7") },
		"mysql:9.7,binlog=row", []string{"mysql:9.7", "mysql:9.7,binlog=row"}},
	{"two nodes", "mysql:9.7,group=3,primary=multi", oracle.NodesDiffer, func(string, int) bool { return true },
		"mysql:9.7,group=2,primary=multi", []string{"mysql:9.7,group=2,primary=multi"}},
	{"one option of two", "mysql:9.7,replica=row,workers=4,order=off", oracle.ReplicaDiffers,
		func(name string, _ int) bool { return strings.Contains(name, "order") },
		"mysql:9.7,replica=row,order=off",
		[]string{"mysql:9.7,replica=row", "mysql:9.7,replica=row,order=off"}},
	{"nothing less", "galera:11.8", oracle.NodesDiffer, func(name string, _ int) bool { return name == "galera:11.8" },
		"galera:11.8", []string{"galera:11.8,nodes=2"}},
	{"once and not again", "galera:11.8", oracle.NodesDiffer,
		func(name string, run int) bool { return name == "galera:11.8" || run == 0 },
		"galera:11.8", []string{"galera:11.8,nodes=2"}},
	{"surely in the reduction, and then in no new database", "galera:11.8", oracle.NodesDiffer,
		func(name string, run int) bool { return name == "galera:11.8" || run < 3 },
		"galera:11.8", []string{"galera:11.8,nodes=2"}},
	{"what cannot be started", "galera:11.8,nodes=4", oracle.NodesDiffer,
		func(name string, _ int) bool { return true }, "galera:11.8,nodes=3", []string{"galera:11.8,nodes=3"}},
	// The case has three sessions until it was reduced.
	{"as many nodes as sessions", "galera:10.11,nodes=3", oracle.NodesDiffer, func(string, int) bool { return true },
		"galera:10.11,nodes=2", []string{"galera:10.11,nodes=2"}},
}

const threeSessions = targettest.DirtyRead + "/* tx3 */ SELECT 1 FROM t;\n"

// TestKeeperShrinksTopologies: a finding is reduced to the simplest topology that shows it, and its file names that.
func TestKeeperShrinksTopologies(t *testing.T) {
	for _, x := range shrunk {
		t.Run(x.name, func(t *testing.T) {
			v := dirtyRead
			v.Kind = x.kind
			home := &fakeServer{v: v}
			k := newFakeKeeper(t, home)
			k.At.Target, k.Shrinks = x.target, true
			text := targettest.DirtyRead
			if strings.Contains(x.target, "nodes=3") {
				text = threeSessions
			}
			k.runs = func(_ context.Context, name string) (target.JudgeFunc, func() error, error) {
				return home.judge, func() error { return nil }, nil
			}
			var opened []string
			open := 0
			k.open = func(_ context.Context, name string) (*ground, error) {
				if name == "galera:11.8,nodes=2" && strings.Contains(x.target, "nodes=4") {
					return nil, errors.New("no memory")
				}
				opened = append(opened, name)
				open++
				f := &fakeServer{v: v, shows: func(run int) bool { return x.shows(name, run) }}
				fresh := &target.FreshServers{Open: func(context.Context) (*target.FreshServer, error) {
					open++
					return &target.FreshServer{Judge: f.judge, Close: func() error { open--; return nil }}, nil
				}}
				at := Place{Target: name, Server: k.At.Server}
				return &ground{at, f.judge, fresh, nil, func() error { open--; return nil }}, nil
			}
			c := targettest.Case(t, text)
			r := home.judge(t.Context(), c, target.LevelsFor(c, corpus.ReadCommitted))
			found, first, err := k.Consider(t.Context(), &r, Origin{})
			if err != nil || !first {
				t.Fatalf("first %t, error %v", first, err)
			}
			if !slices.Equal(opened, x.opened) || open != 0 {
				t.Errorf("%d left of %q, want %q", open, opened, x.opened)
			}
			saved, err := corpus.Load(found.File)
			if err != nil {
				t.Fatal(err)
			}
			rec, ok, err := readRecording(found.File, saved)
			if Home(saved) != x.want || !ok || err != nil || rec.Target != x.want || len(saved.Steps) != 1 {
				t.Errorf("%s, recorded on %s (%v), with %d steps; want %s and one step",
					Home(saved), rec.Target, err, len(saved.Steps), x.want)
			}
			told := x.want
			if told == x.target {
				told = ""
			}
			if rec.Reduction == nil {
				t.Fatal("nothing is recorded of the reduction")
			}
			steps := slices.ContainsFunc(rec.Reduction.Path, func(s timeline.Reduced) bool {
				return s.Layer == topologyLayer && s.Operation == x.want
			})
			if found.Target != told || steps != (told != "") || found.Reproduced != reruns {
				t.Errorf("%+v, with a step to it: %t; want target %q", *found, steps, told)
			}
		})
	}
}

// TestSmallerTopologyIsSmaller: of two files with one case that with fewer servers is kept.
func TestSmallerTopologyIsSmaller(t *testing.T) {
	c := targettest.Case(t, targettest.DirtyRead)
	var last size
	for i, name := range []string{
		"mysql:9.7", "mysql:9.7,replica=row", "mysql:9.7,replica=row,order=off", "mysql:9.7,group=3",
	} {
		c.Set(KeyTarget, name)
		s := sizeOf(c)
		if i > 0 && !last.less(s) {
			t.Errorf("%s: %+v is no more than %+v", name, s, last)
		}
		last = s
	}
}
