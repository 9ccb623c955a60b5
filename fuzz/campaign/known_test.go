package campaign

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"

	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
)

// TestLoadKnown holds which stored cases are changed, and with how many chances.
func TestLoadKnown(t *testing.T) {
	dir := t.TempDir()
	for name, header := range map[string]string{
		"a-published": "-- source: https://example.org/1\n", "b-only-replayed": "-- seed: no, because it is slow\n",
		"c-found": "-- source: txnfuzz\n", "d-found-and-named": "-- source: txnfuzz\n-- seed: yes\n", "e-often": "-- source: txnfuzz\n-- seed: 3\n",
	} {
		if _, err := corpus.Save(dir, name, targettest.Case(t, header+"/* init */ CREATE TABLE `"+name+"` (a INT);\n/* tx1 */ SELECT 1;")); err != nil {
			t.Fatal(err)
		}
	}
	cases, err := LoadKnown(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		got = append(got, strings.Fields(corpus.SQL(c.Init[0].Stmt, corpus.Text))[2])
	}
	want := "a-published d-found-and-named e-often e-often e-often"
	if s := strings.ReplaceAll(strings.Join(got, " "), "`", ""); s != want {
		t.Errorf("%s, want %s", s, want)
	}
}
