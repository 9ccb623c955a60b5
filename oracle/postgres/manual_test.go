//go:build postgres

package postgres_test

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/oracle"
)

var write = flag.Bool("write", false, "write testdata/website.json anew")

func TestManualExample(t *testing.T) {
	r := newRecorder(t, startCluster(t))
	c, err := corpus.Parse("website", []byte(website))
	if err != nil {
		t.Fatal(err)
	}
	h, err := r.record(c)
	if err == nil {
		err = r.answer(c, h)
	}
	if err != nil {
		t.Fatal(err)
	}
	if deleted := h.Stmts[3]; deleted.Result.Affected != 0 || len(deleted.Waits) == 0 {
		t.Errorf("the DELETE deleted %d rows, with %d waits", deleted.Result.Affected, len(deleted.Waits))
	}
	if v := oracle.Check(c, h); v.Outcome != oracle.OK {
		t.Errorf("%+v\n%s", v, story(c, h))
	}
	if *write {
		text, _ := json.MarshalIndent(h, "", " ")
		if err := os.WriteFile(recorded, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
