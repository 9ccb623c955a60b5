package workload

import (
	"fmt"
	"strings"
)

// remaining keeps what a finding's transactions show with FOR UPDATE on every SELECT.
// It is made small anew, with all of them in it: by the schedule of the finding itself,
// which has none of them, nobody would see why they do not help.
func (c *campaign) remaining(f *Finding, seen shown) error {
	small := c.reduce(seen.in, seen.outcome, seen.found, f.level)
	r := &Finding{
		ID: f.ID + "-remains", Class: f.Class, Kind: f.Kind, Level: f.Level, level: f.level,
		Transactions: f.Transactions, Detail: small.found.detail, Seen: 1, Reduced: true,
	}
	named := name(small, c.stage.tablesOf(f.Kind))
	r.Anomaly, r.NamedBy, r.Conflicts = named.name, named.by, named.conflicts
	r.rerun(c, func() bool { return c.shows(small.in, f.Kind, f.level, 1) != nil })
	path, err := c.save(r, small.in, small.outcome)
	if err != nil {
		return err
	}
	r.File = path
	c.mu.Lock()
	defer c.mu.Unlock()
	f.Remains = r
	return nil
}

// writeRemains tells what is seen with FOR UPDATE on every SELECT.
func (f *Finding) writeRemains(b *strings.Builder) {
	r := f.Remains
	fmt.Fprintf(b, "  what remains then%s: %s\n  %s; %s\n", r.named(), strings.Join(r.Calls, ", "), r.Detail, r.Again())
	for line := range strings.Lines(r.Schedule) {
		b.WriteString("  " + line)
	}
	fmt.Fprintf(b, "    as a case: %s\n", r.File)
}

// named is the anomaly's name behind what it is said of.
func (f *Finding) named() string {
	switch {
	case f.Anomaly == "":
		return ""
	case f.NamedBy == ByOrder:
		return " (" + f.Anomaly + ", a guess)"
	}
	return " (" + f.Anomaly + ")"
}
