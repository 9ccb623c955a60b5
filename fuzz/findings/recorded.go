package findings

import (
	"regexp"
	"slices"
	"strings"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// Cell is one verdict of a case: what a target says of it at a level.
type Cell struct {
	Target string
	// Level is as LevelName spells it.
	Level string
	// Verdict is the value of the header line, for example
	// `known moved-row`.
	Verdict string
}

// verdictPattern reads the key of a header line with a verdict: the target and
// the levels, several of which may share one line.
var verdictPattern = regexp.MustCompile(`^verdict \((.+?), ((?:RU|RC|RR|SER)(?: (?:RU|RC|RR|SER))*|tx[0-9]+=.+)\)$`)

// RecordedCells returns the verdicts that the header of a case records, in its
// order, one for each level.
func RecordedCells(c *corpus.Case) []Cell {
	var out []Cell
	for _, f := range c.Header {
		m := verdictPattern.FindStringSubmatch(f.Key)
		if m == nil {
			continue
		}
		levels := []string{m[2]}
		if !strings.Contains(m[2], "=") {
			levels = strings.Fields(m[2])
		}
		for _, l := range levels {
			out = append(out, Cell{m[1], l, f.Value})
		}
	}
	return out
}

// HeaderTarget is a target as header keys spell it: a colon would end the key.
func HeaderTarget(target string) string { return strings.ReplaceAll(target, ":", " ") }

// recordedOn returns the verdicts that a case records for a target.
func recordedOn(c *corpus.Case, target string) []Cell {
	name := HeaderTarget(target)
	return slices.DeleteFunc(RecordedCells(c), func(r Cell) bool { return r.Target != name })
}

// RecordedVerdict returns what a case records for a target at a level, "" for
// nothing.
func RecordedVerdict(c *corpus.Case, target, level string) string {
	for _, r := range recordedOn(c, target) {
		if r.Level == level {
			return r.Verdict
		}
	}
	return ""
}

// Record sets the verdicts of one target in the text of a case. The rest stays
// as its author wrote it, which printing the case would not leave it.
func Record(text []byte, target string, cells []Cell) []byte {
	var fresh []string
	for _, g := range grouped(cells) {
		fresh = append(fresh, "-- "+verdictKey(target, g.Level)+": "+g.Verdict)
	}
	lines := strings.Split(string(text), "\n")
	kept := make([]string, 0, len(lines)+len(fresh))
	header, at, behind := true, -1, -1
	for _, l := range lines {
		header = header && strings.HasPrefix(l, "--")
		var m []string
		if header {
			key, _, _ := strings.Cut(strings.TrimSpace(l[2:]), ":")
			m = verdictPattern.FindStringSubmatch(key)
		}
		if m != nil && m[1] == HeaderTarget(target) {
			if at < 0 {
				at = len(kept)
			}
			continue
		}
		kept = append(kept, l)
		if header && (m != nil || behind < 0 || !strings.HasPrefix(kept[behind-1], "-- verdict (")) {
			behind = len(kept)
		}
	}
	switch {
	case at < 0 && behind < 0:
		at = 0
	case at < 0:
		at = behind
	}
	return []byte(strings.Join(slices.Insert(kept, at, fresh...), "\n"))
}

// grouped joins the levels of equal verdicts, in order of their first level.
func grouped(cells []Cell) []Cell {
	var out []Cell
	for _, c := range cells {
		i := slices.IndexFunc(out, func(g Cell) bool { return g.Verdict == c.Verdict && !strings.Contains(c.Level, "=") })
		if i < 0 {
			out = append(out, c)
			continue
		}
		out[i].Level += " " + c.Level
	}
	return out
}

// HasRecord says that a case records a verdict on a target.
func HasRecord(c *corpus.Case, target string) bool { return len(recordedOn(c, target)) > 0 }
