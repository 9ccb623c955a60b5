package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

func init() {
	harness.Register("mysql", openPrivate, list(history.MySQL))
	harness.Register("mariadb", openPrivate, list(history.MariaDB))
	harness.Register(galeraName, openPrivate, listGalera)
	harness.Register("tidb", openPrivate, list(history.TiDB))
	harness.Register("postgres", openCluster, list(history.PostgreSQL))
	harness.Register(harness.DSN, openForeign, nil)
}

// list tells which servers of a family are installed or could be.
func list(family history.DBMS) harness.Lister {
	return func(ctx context.Context) []harness.Target {
		short := harness.Target{Name: nameOf(family), Note: "scripts/servers installs it"}
		if in, err := find(ctx, spec{family: family}); err == nil {
			short = harness.Target{Name: nameOf(family), Version: in.version, Note: "the newest: " + in.binary, Available: true}
		}
		targets := []harness.Target{short}
		for _, r := range releases {
			if r.family != family {
				continue
			}
			t := harness.Target{Name: fmt.Sprintf("%s:%s", nameOf(family), r.version)}
			in, err := unpacked(ctx, family, r.version)
			if err != nil {
				t.Note = err.Error()
			} else {
				t.Version, t.Note, t.Available = in.version, in.binary, true
			}
			targets = append(targets, t)
		}
		targets = append(targets, listMinors(ctx, family)...)
		if in, err := onPath(ctx, family); err == nil {
			targets = append(targets, harness.Target{Name: nameOf(family) + ":" + in.version, Version: in.version, Note: "on the PATH: " + in.binary, Available: true})
		} else if !errors.Is(err, exec.ErrNotFound) {
			targets = append(targets, harness.Target{Name: nameOf(family) + " on the PATH", Note: err.Error()})
		}
		return targets
	}
}

// listMinors tells which older minor versions of a family are installed; those that are not would fill the list.
func listMinors(ctx context.Context, family history.DBMS) []harness.Target {
	var targets []harness.Target
	for _, v := range minors[family] {
		in, err := unpacked(ctx, family, v)
		if err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				targets = append(targets, harness.Target{Name: nameOf(family) + ":" + v, Note: err.Error()})
			}
			continue
		}
		targets = append(targets, harness.Target{Name: in.name, Version: in.version, Note: in.binary, Available: true})
	}
	return targets
}

// listGalera tells which MariaDB servers can be a Galera cluster.
func listGalera(ctx context.Context) []harness.Target {
	j := &joining{kind: harness.Galera}
	newest := harness.Target{Name: galeraName, Note: "scripts/servers " + galeraName + ":" + galeraReleases()[0] + " installs it"}
	if in, err := j.find(ctx, spec{family: history.MariaDB}); err == nil {
		newest = harness.Target{Name: galeraName, Version: in.version, Note: "the newest: " + in.binary, Available: true}
	}
	targets := []harness.Target{newest}
	for _, version := range galeraReleases() {
		t := harness.Target{Name: galeraName + ":" + version}
		in, err := unpacked(ctx, history.MariaDB, version)
		library := ""
		if err == nil {
			library, err = libraryOf(in)
		}
		if err != nil {
			t.Note = fmt.Sprintf("%s is not installed (scripts/servers %s installs it)", t.Name, t.Name)
			if !errors.Is(err, os.ErrNotExist) {
				t.Note = err.Error()
			}
		} else {
			t.Version, t.Available = in.version, true
			t.Note = fmt.Sprintf("a cluster of %d nodes, with nodes=N of %d to %d, snapshot=on, snapshot=off; %s",
				usualNodes, fewestNodes, mostNodes, library)
		}
		targets = append(targets, t)
	}
	return targets
}
