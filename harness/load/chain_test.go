package load

import (
	"database/sql/driver"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// TestChains: most transactions are one SELECT of all keys in use, most of these are sent alone, and all others that
// are to write do so first.
func TestChains(t *testing.T) {
	r := &run{workload: chains{}, settings: Settings{Clients: 1}}
	opened, err := openingsFor(nil, chainName, history.MySQL, corpus.RepeatableRead)
	if err != nil {
		t.Fatal(err)
	}
	c := &chooser{rand: rand.New(rand.NewPCG(1, 2)), epoch: r.newEpoch(0, nil), locks: readLocks[AutoReads], step: 1}
	var p plan
	looks, alone, writes, chained := 0, 0, 0, 0
	for range 4000 {
		p.draw(r.workload, c, opened)
		if len(p.steps[0].also) == 0 {
			writes++
			if p.name == OpenBegin && p.steps[0].kind != kv.Append {
				t.Fatalf("%+v writes late", p)
			}
			if len(p.steps) > 1 {
				chained++
			}
			continue
		}
		if looks++; p.begin == "" {
			alone++
		}
		s := p.steps[0]
		var keys []kv.Value
		for i := range c.epoch.keys.slots {
			keys = append(keys, c.epoch.keys.at(i))
		}
		if got := append([]kv.Value{s.key}, s.also...); len(p.steps) != 1 || !slices.Equal(got, keys) {
			t.Fatalf("%v is read, %v are in use", got, keys)
		}
	}
	if looks < 2*writes || alone < looks/2 || alone == looks || chained < writes/4 {
		t.Errorf("%d looks, %d of them alone; %d writers, %d of them do more", looks, alone, writes, chained)
	}
}

// TestReadOfSeveral: each key that was asked for is read once, whatever the order of the rows.
func TestReadOfSeveral(t *testing.T) {
	row := func(k int64, list string) []driver.Value { return []driver.Value{k, []byte(list)} }
	for _, c := range []struct {
		name  string
		lock  lock
		rows  [][]driver.Value
		want  string
		wrong string
	}{
		{name: "all", rows: [][]driver.Value{row(9, ",3,1"), row(4, "7")}, want: "r 4 [7]; r 5 []; r 9 [3 1]"},
		{name: "skipped", lock: skipLocked, rows: [][]driver.Value{row(9, "3")}, want: "r 9 [3]"},
		{name: "another", rows: [][]driver.Value{row(8, "3")}, wrong: "1 rows, of which 0 were asked for"},
		{name: "twice", rows: [][]driver.Value{row(4, "3"), row(4, "3")}, wrong: "2 rows of key 4"},
	} {
		tp := &tape{}
		s := step{kind: kv.ReadList, key: 4, also: []kv.Value{5, 9}, lock: c.lock}
		err := chains{}.record(tp, s, &answer{rows: c.rows})
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v, want %s", c.name, err, c.wrong)
			}
			continue
		}
		tp.end(1, 1, 2, kv.OK)
		if got := spellRecord(event{tp, &tp.txns[0]}.record()); err != nil || got != c.want {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
	for d, want := range map[*dialect]string{
		mysqlDialect:                 "SELECT k, val FROM append_list WHERE k IN (4, 5) LOCK IN SHARE MODE",
		dialects[history.PostgreSQL]: "SELECT k, val FROM append_list WHERE k IN (4, 5) FOR SHARE",
	} {
		s := step{kind: kv.ReadList, key: 4, also: []kv.Value{5}, lock: forShare}
		if got := string(chains{}.sql(d, nil, s)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
