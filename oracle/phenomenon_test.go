package oracle

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/model"
)

// hermitage tells which phenomenon each of Hermitage's tests shows on MySQL and on TiDB, and
// up to which level, as its pages say.
// https://github.com/ept/hermitage/blob/master/mysql.md
// https://github.com/ept/hermitage/blob/master/tidb.md
var hermitage = map[string]struct {
	kind model.Kind
	upTo string
}{
	"g0":       {model.G0, ""},
	"g1a":      {model.G1a, "RU"},
	"g1b":      {model.G1b, "RU"},
	"g1c":      {model.G1c, "RU"},
	"otv":      {model.OTV, "RU"},
	"pmp":      {model.GSingle, "RC"},
	"pmpw":     {model.GSingleItem, "RR"},
	"p4":       {model.LostUpdate, "RR"},
	"gsingle":  {model.GSingleItem, "RC"},
	"gsinglep": {model.GSingleItem, "RC"},
	"gsinglew": {model.GSingleItem, "RR"},
	"g2item":   {model.G2Item, "RR"},
	"g2":       {model.G2, "RR"},
	"g2two":    {model.G2Item, "RR"},
}

// TestHermitage names what the runs of Hermitage's tests on MySQL 9.7 and TiDB show, each at
// each level that the server has. At READ UNCOMMITTED a test that reads may show a graver phenomenon, too.
func TestHermitage(t *testing.T) {
	records, err := LoadRecords("testdata/hermitage.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	levels, met := []string{"RU", "RC", "RR", "SER"}, 0
	for i := range records {
		r := &records[i]
		name, level, _ := strings.Cut(r.Note, " ")
		want, ok := hermitage[name]
		if !ok {
			continue
		}
		met++
		c, err := corpus.Parse(r.Note, []byte(r.Case))
		if err != nil {
			t.Fatal(err)
		}
		list, d := Phenomena(c, r.History, &r.Verdict)
		shows := slices.ContainsFunc(list, func(p Phenomenon) bool { return p.Kind == want.kind })
		due := want.upTo != "" && slices.Index(levels, level) <= slices.Index(levels, want.upTo)
		if shows != due && !(level == "RU" && name == "pmpw") {
			t.Errorf("%s: %s shown: %v, want %v", r.Note, want.kind, shows, due)
		}
		if level == "SER" && len(list) > 0 {
			t.Errorf("%s: %s", r.Note, list[0].Line(d, r.History))
		}
	}
	if want := (4 + 2) * len(hermitage); met != want {
		t.Errorf("%d runs, want %d", met, want)
	}
}

// TestSerializableHasNoPhenomenon: what the oracle calls right at SERIALIZABLE has no
// cycle, however many statements waited.
func TestSerializableHasNoPhenomenon(t *testing.T) {
	n := 0
	for _, file := range []string{"testdata/innodb-honest.jsonl", "testdata/innodb-false-alarms.jsonl"} {
		records, err := LoadRecords(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			r := &records[i]
			c, err := corpus.Parse(file, []byte(r.Case))
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(c.Sessions(), func(s int) bool { return r.History.Levels[s] != corpus.Serializable }) {
				continue
			}
			v := Check(c, r.History)
			if v.Outcome != OK {
				continue
			}
			n++
			if list, d := Phenomena(c, r.History, &v); len(list) > 0 && !d.Coarse {
				t.Errorf("%s: %s\n%s", r.Note, list[0].Line(d, r.History), r.Case)
			}
		}
	}
	if n < 10 {
		t.Errorf("%d histories at SERIALIZABLE", n)
	}
}
