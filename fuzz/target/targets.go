package target

import (
	"context"
	"regexp"
	"runtime/debug"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/txnfuzz/txnfuzz/harness"
)

// All is the name that stands for every target to be had here.
const All = "all"

// variants are the settings, beside the vendor's defaults, that change what a
// server promises, so that its cases must be judged under both.
var variants = []struct{ target, setting, says string }{
	{"mariadb:10.11", "snapshot=on", "with innodb_snapshot_isolation, which the vendor leaves off"},
	{"mariadb:11.8", "snapshot=off", "without innodb_snapshot_isolation, which the vendor sets"},
	{"mysql:9.7", "binlog=off", "without the binary log, which the vendor writes in the form ROW"},
}

// replicated are the topologies that are listed, and that Installed leaves out: no verdicts are recorded there but those
// on the cases that were found on one. Where one node takes writes, a case gets the verdict of that server alone; where
// all do, each session is on a node of its own, and less is promised (docs/clusters.md).
var replicated = []struct{ target, setting, says string }{
	{"mariadb:10.11", "replica=row", "a primary and its replica; also replica=mixed, replica=statement; with workers=4"},
	{"mariadb:11.8", "replica=row", "a primary and its replica; also replica=mixed, replica=statement; with workers=4"},
	{"mysql:9.7", "replica=row", "a primary and its replica; also replica=mixed, replica=statement; with workers=4, order=off"},
	{"mysql:9.7", "group=3", "Group Replication with one primary; also primary=multi, and group=2 to 5"},
	{"postgres:18", "standby=1", "a primary and a physical standby; with sync=off, sync=on or sync=remote_apply"},
}

// Targets returns what can be asked for here, as harness.Available does, each
// release followed by those of its variants whose verdicts are recorded.
func Targets(ctx context.Context) []harness.Target {
	var out []harness.Target
	for _, t := range harness.Available(ctx) {
		if t.Name == Default {
			t.Version = mysql.ServerVersion
			if info, ok := debug.ReadBuildInfo(); ok {
				t.Note += embeddedCommit(info)
			}
		}
		out = append(out, t)
		for _, v := range variants {
			if v.target == t.Name {
				out = append(out, harness.Target{Name: t.Name + "," + v.setting, Version: t.Version, Note: v.says, Available: t.Available})
			}
		}
		for _, v := range replicated {
			if v.target == t.Name {
				out = append(out, harness.Target{Name: t.Name + "," + v.setting, Version: t.Version, Note: v.says, Available: t.Available})
			}
		}
	}
	return out
}

// pseudoVersion is how a module without a release of its own is named: by the
// time and the hash of a commit (https://go.dev/ref/mod#pseudo-versions).
var pseudoVersion = regexp.MustCompile(`([0-9]{4})([0-9]{2})([0-9]{2})[0-9]{6}-([0-9a-f]{12})$`)

// embeddedCommit tells of which commit the TiDB in this program is, whose own
// version says nothing; "" if the build does not know, as that of a test does not.
func embeddedCommit(info *debug.BuildInfo) string {
	for _, module := range info.Deps {
		if m := pseudoVersion.FindStringSubmatch(module.Version); m != nil && module.Path == "github.com/pingcap/tidb" {
			return ", commit " + m[4] + " of " + m[1] + "-" + m[2] + "-" + m[3]
		}
	}
	return ""
}

// Installed returns the targets that can be opened here, each release by its
// own name and followed by its variants, in a fixed order.
func Installed(ctx context.Context) []string {
	var out []string
	for _, t := range harness.Available(ctx) {
		// A family without a version is another name for its newest release.
		if !t.Available || t.Name != Default && !strings.Contains(t.Name, ":") || OfSeveral(t.Name) {
			continue
		}
		out = append(out, t.Name)
		for _, v := range variants {
			if v.target == t.Name {
				out = append(out, t.Name+","+v.setting)
			}
		}
	}
	return out
}
