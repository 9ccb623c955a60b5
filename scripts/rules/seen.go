package main

import (
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/findings"
	"github.com/txnfuzz/txnfuzz/oracle/history"
	"github.com/txnfuzz/txnfuzz/oracle/rules"
)

// seenOn tells, in a line for each vendor, on which versions a stored case records a deviation.
func (r *recorded) seenOn(name string) string {
	var b strings.Builder
	for _, dbms := range []history.DBMS{history.TiDB, history.MySQL, history.MariaDB} {
		releases := r.releases(dbms)
		if len(releases) == 0 || !concerns(name, dbms) {
			continue
		}
		var seen, none, out []string
		for _, rel := range releases {
			switch on := r.targetsWith(name, rel); {
			case len(on) > 0:
				seen = append(seen, rel.text(on))
			case inScope(name, rel):
				none = append(none, rel.name())
			default:
				out = append(out, rel.name())
			}
		}
		var parts []string
		if len(seen) > 0 {
			parts = append(parts, fromTo(dbms, seen, len(none)+len(out) == 0))
		}
		if len(none) > 0 {
			parts = append(parts, "no stored case on "+strings.Join(none, ", "))
		}
		if len(out) > 0 {
			parts = append(parts, "not meant for "+strings.Join(out, ", "))
		}
		b.WriteString("* " + vendors([]history.DBMS{dbms}) + ": " + strings.Join(parts, "; ") + "\n")
	}
	return b.String()
}

// fromTo joins versions: of TiDB's, of which all is one line of commits, the first and the last.
func fromTo(dbms history.DBMS, seen []string, all bool) string {
	if dbms == history.TiDB && all && len(seen) > 1 {
		return "from " + seen[0] + " to " + seen[len(seen)-1]
	}
	return strings.Join(seen, ", ")
}

// concerns reports whether a row of a deviation holds for a vendor.
func concerns(name string, dbms history.DBMS) bool {
	return slices.ContainsFunc(rules.Table, func(row rules.Rule) bool {
		on := row.Scope.DBMS
		return row.Status == rules.Deviation && row.Name == name && (len(on) == 0 || slices.Contains(on, dbms))
	})
}

// targetsWith lists the targets of a version on which a stored case records the deviation, alone
// or beside others.
func (r *recorded) targetsWith(name string, rel release) []string {
	return slices.DeleteFunc(slices.Clone(rel.targets), func(target string) bool {
		return !slices.ContainsFunc(r.cases, func(c storedCase) bool {
			return slices.ContainsFunc(c.cells, func(cell findings.Cell) bool {
				return cell.Target == findings.HeaderTarget(target) && slices.Contains(knownRules(cell.Verdict), name)
			})
		})
	})
}

// knownRules are the deviations that explain a verdict.
func knownRules(verdict string) []string {
	names, ok := strings.CutPrefix(verdict, "known ")
	if !ok {
		return nil
	}
	return strings.Split(names, " + ")
}

// isolates is the setting that some versions of MariaDB do not have.
const isolates = "innodb_snapshot_isolation"

// inScope reports whether a deviation can show on a version, with the settings of one of the
// targets: what is for older ones only cannot, nor what needs a variable that is not there.
func inScope(name string, rel release) bool {
	hasSnapshot := slices.ContainsFunc(rel.targets, func(t string) bool { return strings.Contains(t, ",snapshot=") })
	return slices.ContainsFunc(rules.Table, func(row rules.Rule) bool {
		if row.Status != rules.Deviation || row.Name != name {
			return false
		}
		if value, asked := row.Scope.Settings[isolates]; asked && (value != "") != hasSnapshot {
			return false
		}
		of := rules.Scope{DBMS: row.Scope.DBMS, Before: row.Scope.Before}
		return of.Covers(history.Server{DBMS: rel.dbms, Version: rel.version}, 0)
	})
}

// name is how a version is called: a commit with its month, or a series.
func (rel release) name() string {
	if rel.dbms != history.TiDB {
		return rel.label
	}
	for _, t := range rel.targets {
		if _, month, ok := strings.Cut(t, ":"); ok {
			return "commit `" + rel.label + "` (" + month + ")"
		}
	}
	return "commit `" + rel.label + "`"
}

// text names a version on which some of its targets showed a deviation: all, unless only those
// did that are not what the vendor ships.
func (rel release) text(on []string) string {
	if slices.Contains(on, rel.targets[0]) {
		return rel.name()
	}
	quoted := make([]string, len(on))
	for i, t := range on {
		quoted[i] = "`" + t + "`"
	}
	return rel.name() + " (only " + strings.Join(quoted, ", ") + ")"
}
