package findings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// Turn says that a finding comes or goes from one version to a later one; "": neither.
type Turn string

const (
	Comes Turn = "comes"
	Goes  Turn = "goes"
)

// SortBuilds puts builds of one family into the order of their versions, and tells of each its branch and whether the
// finding comes or goes with it.
//
// A branch is what a vendor gives fixes of its own: a bug that is fixed in 13.23 and 14.20 is in 14.3, which is older
// than 13.23. So turns are told along each branch, between builds that can tell. From one branch to the next the finding
// turns if the first build of the next does otherwise than the last of the one before; but not if both branches end
// alike and the one before has changed itself: then the change was brought to both of them.
func SortBuilds(builds []OnBuild) {
	slices.SortStableFunc(builds, func(a, b OnBuild) int {
		v, w := a.own(), b.own()
		x, y := history.VersionNumbers(v), history.VersionNumbers(w)
		return cmp.Or(slices.Compare(x[:], y[:]), strings.Compare(v, w), strings.Compare(a.Build, b.Build))
	})
	for i := range builds {
		b := &builds[i]
		b.Branch, b.Turn, b.After = branchOf(b), "", ""
	}
	var before []*OnBuild // those of the last branch that has any which can tell
	for _, branch := range branches(builds) {
		told := branch.told()
		if len(told) == 0 {
			continue
		}
		for i, b := range told[1:] {
			b.turnAfter(told[i])
		}
		if before != nil {
			last := before[len(before)-1]
			endAlike := last.shows() == told[len(told)-1].shows()
			changed := slices.ContainsFunc(before, func(b *OnBuild) bool { return b.shows() != last.shows() })
			if !endAlike || !changed {
				told[0].turnAfter(last)
			}
		}
		before = told
	}
}

// branchOf is the branch of a build's version, "" if it told none: the first number of PostgreSQL's, since 10; else the
// first two.
func branchOf(b *OnBuild) string {
	v := b.own()
	n := history.VersionNumbers(v)
	switch {
	case v == "":
		return ""
	case b.DBMS == history.PostgreSQL && n[0] >= 10:
		return fmt.Sprint(n[0])
	}
	return fmt.Sprintf("%d.%d", n[0], n[1])
}

func (b *OnBuild) shows() bool { return b.Presence == Shows }

func (b *OnBuild) turnAfter(a *OnBuild) {
	if a.shows() == b.shows() {
		return
	}
	b.Turn, b.After = Goes, a.Build
	if b.shows() {
		b.Turn = Comes
	}
}

// own is the version of a server's own, "" if it told none. A TiDB's stands behind that of the MySQL that it resembles,
// 8.0.11-TiDB-v8.5.4-20251126-e4e814fdc0af, or alone: v8.5.4-20251126-e4e814fdc0af.
func (b *OnBuild) own() string {
	v := b.Version
	if _, own, ok := strings.Cut(v, "-TiDB-"); ok {
		v = own
	}
	v = strings.TrimPrefix(v, "v")
	if v == "None" { // of a TiDB that was built without its Makefile
		return ""
	}
	return v
}

// short is the version without what a vendor puts behind it, but with the date of a TiDB between two releases, and with the
// variant of the target; or the build if it told none.
func (b *OnBuild) short() string {
	parts := strings.Split(b.own(), "-")
	if parts[0] == "" {
		return b.Build
	}
	version := parts[0]
	if b.DBMS == history.TiDB && len(parts) > 1 && len(parts[1]) == len("20060102") {
		version += "-" + parts[1]
	}
	if _, variant, ok := strings.Cut(b.Build, ","); ok && !strings.ContainsRune(b.Build, '/') {
		version += "," + variant
	}
	return version
}

// branch holds the builds of one, in their order.
type branch []OnBuild

func branches(builds []OnBuild) (out []branch) {
	for len(builds) > 0 {
		n := 1
		for n < len(builds) && builds[n].Branch == builds[0].Branch {
			n++
		}
		out, builds = append(out, builds[:n]), builds[n:]
	}
	return out
}

// told are those that can tell.
func (br branch) told() (out []*OnBuild) {
	for i := range br {
		if br[i].Presence != Untestable {
			out = append(out, &br[i])
		}
	}
	return out
}

func (br branch) changes() bool {
	return slices.ContainsFunc(br, func(b OnBuild) bool { return b.Presence != br[0].Presence })
}

// InVersions tells in one line in which versions a finding shows, for builds as SortBuilds leaves them: "absent in 10.23,
// 11.22; shows in 12.22 to 18.4". A branch in which it comes or goes stands for itself, its parts divided by "then":
// "shows in 13.10, then absent in 13.23; shows in 14.3, then absent in 14.23".
func InVersions(builds []OnBuild) string {
	var parts []string
	var alike branch // of branches in which nothing changes
	flush := func() {
		parts = append(parts, alike.stretches()...)
		alike = nil
	}
	for _, br := range branches(builds) {
		if !br.changes() {
			alike = append(alike, br...)
			continue
		}
		flush()
		parts = append(parts, strings.Join(br.stretches(), ", then "))
	}
	flush()
	return strings.Join(append(parts, unlikeSettings(builds)...), "; ")
}

// unlikeSettings tells of settings that decide which rules hold and that the builds, each at its defaults, do not share:
// what a finding shows in one build and not in another may be theirs. It tells none if the finding is everywhere the same.
func unlikeSettings(builds []OnBuild) (told []string) {
	if all := branch(builds).told(); !slices.ContainsFunc(all, func(b *OnBuild) bool { return b.shows() != all[0].shows() }) {
		return nil
	}
	var names []string
	for _, b := range builds {
		for name := range b.Settings {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		var values []string // in the order of the versions
		in := map[string][]string{}
		for i := range builds {
			b := &builds[i]
			if b.DBMS == "" { // it was not started
				continue
			}
			value, ok := b.Settings[name]
			if value = cmp.Or(value, "empty"); !ok {
				value = "not there"
			}
			if in[value] == nil {
				values = append(values, value)
			}
			in[value] = append(in[value], b.short())
		}
		if len(values) < 2 {
			continue
		}
		for i, v := range values {
			values[i] = v + " in " + strings.Join(slices.Compact(in[v]), ", ")
		}
		told = append(told, name+" is "+strings.Join(values, ", "))
	}
	return told
}

// stretches tells of builds that follow each other and do the same: "shows in 12.22 to 18.4".
func (br branch) stretches() (parts []string) {
	for len(br) > 0 {
		n := 1
		for n < len(br) && br[n].Presence == br[0].Presence {
			n++
		}
		var distinct []string // two builds may be of one version
		for i := range br[:n] {
			if v := br[i].short(); len(distinct) == 0 || distinct[len(distinct)-1] != v {
				distinct = append(distinct, v)
			}
		}
		versions := strings.Join(distinct, ", ")
		if len(distinct) > 2 {
			versions = distinct[0] + " to " + distinct[len(distinct)-1]
		}
		parts = append(parts, fmt.Sprintf("%s in %s", br[0].Presence, versions))
		br = br[n:]
	}
	return parts
}
