package oracle

import (
	"slices"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle/model"
	"github.com/txnfuzz/txnfuzz/oracle/promise"
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

// hermitagePostgres tells which phenomenon each of Hermitage's tests on PostgreSQL shows, and up to which level, as its
// page says; several blocks of SQL there are one test at several levels. Where the page rolls back what has failed, the
// test commits, so that weaker levels show what comes of it.
// https://github.com/ept/hermitage/blob/master/postgres.md
var hermitagePostgres = map[string]struct {
	kind model.Kind
	upTo string
}{
	"g0":       {model.G0, ""},
	"g1a":      {model.G1a, ""},
	"g1b":      {model.G1b, ""},
	"g1c":      {model.G1c, ""},
	"otv":      {model.OTV, ""},
	"pmp":      {model.GSingle, "RC"},
	"pmpw":     {model.GSingle, "RC"},
	"p4":       {model.LostUpdate, "RC"},
	"gsingle":  {model.GSingleItem, "RC"},
	"gsinglep": {model.GSingleItem, "RC"},
	"gsinglew": {model.GSingleItem, "RC"},
	"g2item":   {model.G2Item, "RR"},
	"g2":       {model.G2, "RR"},
	"g2two":    {model.G2Item, "RR"},
}

// TestHermitageOfPostgres names what the runs of Hermitage's tests on PostgreSQL 18 show at each level that it has.
func TestHermitageOfPostgres(t *testing.T) {
	records, err := LoadRecords("testdata/hermitage-postgres.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	levels, met := []string{"RC", "RR", "SER"}, map[string]bool{}
	for i := range records {
		r := &records[i]
		name, level, _ := strings.Cut(r.Note, " ")
		want, ok := hermitagePostgres[name]
		if !ok {
			t.Fatalf("%s: of no test", r.Note)
		}
		met[r.Note] = true
		c, err := corpus.Parse(r.Note, []byte(r.Case))
		if err != nil {
			t.Fatal(err)
		}
		v := r.Verdict
		if level != "RC" {
			g, err := promise.Judge(c, r.History, recordedAnswers(r.History))
			if err != nil {
				t.Fatalf("%s: %v", r.Note, err)
			}
			v = ByPromise(c, r.History, &v, &g)
		}
		if v.Outcome != OK {
			t.Errorf("%s: %s %s %s", r.Note, v.Outcome, v.Kind, v.Reason)
		}
		list, d := Phenomena(c, r.History, &v)
		if d == nil {
			t.Errorf("%s: no dependencies", r.Note)
			continue
		}
		shows := slices.ContainsFunc(list, func(p Phenomenon) bool { return p.Kind == want.kind })
		due := want.upTo != "" && slices.Index(levels, level) <= slices.Index(levels, want.upTo)
		if shows != due {
			t.Errorf("%s: %s shown: %v, want %v", r.Note, want.kind, shows, due)
		}
		if level == "SER" && len(list) > 0 {
			t.Errorf("%s: %s", r.Note, list[0].Line(d, r.History))
		}
	}
	if want := len(levels) * len(hermitagePostgres); len(met) != want {
		t.Errorf("%d runs, want %d", len(met), want)
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
