package findings

import (
	"path/filepath"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/fuzz/targettest"
	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// A finding is new until a file of the same family of servers has its
// fingerprint, whatever people called that file.
func TestFindingsAreNewOnce(t *testing.T) {
	f := &fakeServer{}
	k := newFakeKeeper(t, f)
	consider := func() *Finding {
		t.Helper()
		k.byID, k.order = map[string]*Finding{}, nil
		r := trialOf(t, f)
		found, _, err := k.Consider(t.Context(), r, Origin{})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	reopen := func() {
		t.Helper()
		var err error
		if k.Store, err = OpenStore(k.Store.dir); err != nil {
			t.Fatal(err)
		}
	}
	if !consider().New {
		t.Error("the first time: not new")
	}
	reopen()
	if consider().New {
		t.Error("new although its file is there")
	}
	other := t.TempDir()
	for version, want := range map[string]bool{"8.0.11-TiDB-v8.2.0": false, "11.8.3-MariaDB-log": true, "9.7.0": true} {
		c := targettest.Case(t, targettest.DirtyRead)
		c.Set(KeyVersion, version)
		c.Set(KeyFingerprint, dirtyRead.Fingerprint)
		dir := filepath.Join(other, version)
		if _, err := corpus.Save(dir, "a-name-of-its-own", c); err != nil {
			t.Fatal(err)
		}
		store, err := OpenStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := !store.knows("id", history.TiDB, dirtyRead.Fingerprint); got != want {
			t.Errorf("with a file from %s: new %t, want %t", version, got, want)
		}
		for outcome, stays := range map[oracle.Outcome]bool{oracle.Known: !want, oracle.Violation: false} {
			found := &Finding{ID: "id", Fingerprint: dirtyRead.Fingerprint, Verdict: outcome}
			path, got := store.keeps(found, c, history.Server{DBMS: history.TiDB, Version: "8.0.11-TiDB-v9.0.0"})
			if got != stays || stays && filepath.Base(path) != "a-name-of-its-own.sql" {
				t.Errorf("with a file from %s, %s: %q stays %t, want %t", version, outcome, path, got, stays)
			}
		}
	}
}
