package server

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// onlyServers points the cache at a new folder that holds the given servers
// and no template.
func onlyServers(t *testing.T, targets ...string) {
	old, err := cacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "txnfuzz", "servers"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		name := strings.ReplaceAll(target, ":", "-")
		if err := os.Symlink(filepath.Join(old, "servers", name), filepath.Join(dir, "txnfuzz", "servers", name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_CACHE_HOME", dir)
}

// wrapped installs a program that runs an unpacked server, as a package of the
// system would be, and puts it on the PATH.
func wrapped(t *testing.T, target string) string {
	s, err := parseSpec(target)
	if err != nil {
		t.Fatal(err)
	}
	in, err := unpacked(t.Context(), s.family, s.version)
	if err != nil {
		t.Fatal(err)
	}
	prefix := t.TempDir()
	bin := filepath.Join(prefix, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(in.prefix, "share"), filepath.Join(prefix, "share")); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(bin, filepath.Base(in.binary))
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", strings.Join(in.command, "' '"))
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return program
}

func TestServerOnThePath(t *testing.T) {
	inTurn(t, installedTargets(t), func(t *testing.T, target string) {
		program := wrapped(t, target)
		onlyServers(t)
		family, version, _ := strings.Cut(target, ":")
		for _, name := range []string{family, target} {
			b := start(t, name)
			if b.in.binary != program || !strings.HasPrefix(b.Server().Version, version+".") {
				t.Errorf("%s starts %s, version %s", name, b.in.binary, b.Server().Version)
			}
		}
		found := false
		for _, x := range harness.Available(t.Context()) {
			found = found || x.Available && x.Name == family && strings.Contains(x.Note, program)
			if x.Name == target && (x.Available || !strings.Contains(x.Note, "scripts/servers")) {
				t.Errorf("not unpacked, but listed as %+v", x)
			}
		}
		if !found {
			t.Errorf("not listed: %+v", harness.Available(t.Context()))
		}
		if _, err := openPrivate(t.Context(), family+":0.1", harness.Options{}); err == nil || !strings.Contains(err.Error(), "no "+family+" 0.1 is on the PATH") {
			t.Errorf("an unknown version: %v", err)
		}
	})
}

func TestNothingInstalled(t *testing.T) {
	onlyServers(t)
	t.Setenv("PATH", t.TempDir())
	for target, want := range map[string]string{
		"mysql": "scripts/servers mysql:9.7", "mariadb": "scripts/servers mariadb:11.8", "mariadb:10.5": "scripts/servers mariadb:10.5",
		"tidb": "scripts/servers tidb:2025-11", "tidb:2024-07": "scripts/servers tidb:2024-07",
		"postgres:15.1": "scripts/servers postgres:15.1",
		"mariadb:9.9":   "scripts/servers does not know it", "postgres:15.99": "scripts/servers does not know it",
	} {
		if _, err := harness.Open(t.Context(), target, harness.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestTheNewestIsTaken: a family's name stands for its newest server.
func TestTheNewestIsTaken(t *testing.T) {
	installed := installedTargets(t)
	for _, family := range []string{"mysql", "mariadb"} {
		newest := ""
		for _, x := range installed {
			if strings.HasPrefix(x, family+":") && (newest == "" || newer(strings.TrimPrefix(x, family+":"), strings.TrimPrefix(newest, family+":"))) {
				newest = x
			}
		}
		if newest == "" {
			continue
		}
		s, err := parseSpec(family)
		if err != nil {
			t.Fatal(err)
		}
		in, err := find(t.Context(), s)
		if err != nil || in.name != newest && in.name != "" {
			t.Errorf("%s is %s (%v), want %s", family, in.name, err, newest)
		}
	}
}

// TestSeveralAtOnce: the first users of a server share the making of its
// template, and instances do not see each other.
func TestSeveralAtOnce(t *testing.T) {
	inTurn(t, installedTargets(t), func(t *testing.T, target string) {
		onlyServers(t, target)
		const n = 3
		backends := make([]harness.Backend, n)
		errs := make([]error, n)
		var opened sync.WaitGroup
		for i := range n {
			opened.Go(func() { backends[i], errs[i] = harness.Open(t.Context(), target, harness.Options{}) })
		}
		opened.Wait()
		for i, b := range backends {
			if errs[i] != nil {
				t.Error(errs[i])
				continue
			}
			defer b.Close()
			s := sideOf(t, b.(dialer))
			must(t, s, "CREATE DATABASE txnfuzz_test", "CREATE TABLE txnfuzz_test.t (a INT PRIMARY KEY)")
		}
	})
}

// TestScriptKnowsTheMinors: scripts/servers installs the minor versions that a target can name.
func TestScriptKnowsTheMinors(t *testing.T) {
	text, err := os.ReadFile("../../scripts/servers")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, m := range regexp.MustCompile(`(?m)^\tpostgres:([0-9]+\.[0-9]+) ([0-9.]+)-\S+ \S{86}==$`).FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, m[1])
		if !strings.HasPrefix(m[2], m[1]+".") {
			t.Errorf("postgres:%s is the package %s", m[1], m[2])
		}
	}
	if diff := cmp.Diff(minors[history.PostgreSQL], rows); diff != "" {
		t.Error(diff)
	}
	rows = nil
	older := regexp.MustCompile(`(?m)^\tmariadb:([0-9.]+) +\w+ +(\S+) .*=[0-9a-f]{64}$`)
	for _, m := range older.FindAllStringSubmatch(string(text), -1) {
		rows = append(rows, m[1])
		if !strings.HasPrefix(m[2], m[1]+"-") {
			t.Errorf("mariadb:%s is the package %s", m[1], m[2])
		}
	}
	if diff := cmp.Diff(minors[history.MariaDB], rows); diff != "" {
		t.Error(diff)
	}
}
