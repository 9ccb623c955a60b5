package campaign

import (
	"fmt"
	"slices"
	"strings"
)

// PatternsReport tells, level by level, which patterns a campaign has seen.
type PatternsReport []LevelPatterns

// LevelPatterns is that of one level. Its JSON keys are part of the command line's
// contract.
type LevelPatterns struct {
	Level string `json:"level"`
	// Seen and Of count the patterns of two transactions, LongSeen and LongOf those of
	// three.
	Seen     int `json:"seen"`
	Of       int `json:"of"`
	LongSeen int `json:"long_seen"`
	LongOf   int `json:"long_of"`
	// Inputs is how many aimed at a pattern of two transactions, LongInputs at one of three.
	Inputs     int `json:"inputs"`
	LongInputs int `json:"long_inputs"`
	// Names are the patterns that were seen.
	Names []string `json:"names"`
}

// count makes the numbers those of the names.
func (l *LevelPatterns) count() {
	all := catalog()
	l.Of, l.LongOf, l.Seen, l.LongSeen = all.short, len(all.all)-all.short, 0, 0
	for _, name := range l.Names {
		if all.at[name] < all.short {
			l.Seen++
		} else {
			l.LongSeen++
		}
	}
}

// merged adds what another part of a campaign has seen.
func (r PatternsReport) merged(more PatternsReport) PatternsReport {
	out := slices.Clone(r)
	for _, m := range more {
		i := slices.IndexFunc(out, func(l LevelPatterns) bool { return l.Level == m.Level })
		if i < 0 {
			out = append(out, m)
			continue
		}
		l := &out[i]
		l.Inputs, l.LongInputs = l.Inputs+m.Inputs, l.LongInputs+m.LongInputs
		l.Names = slices.Clone(l.Names)
		for _, name := range m.Names {
			if !slices.Contains(l.Names, name) {
				l.Names = append(l.Names, name)
			}
		}
		l.count()
	}
	return out
}

// WriteText writes one line, if there is anything to tell.
func (r PatternsReport) WriteText(b *strings.Builder) {
	if len(r) == 0 {
		return
	}
	var short, long []string
	aimedLong := false
	for i := range r {
		l := &r[i]
		short = append(short, fmt.Sprintf("%s %d of %d", l.Level, l.Seen, l.Of))
		long = append(long, fmt.Sprintf("%s %d of %d", l.Level, l.LongSeen, l.LongOf))
		aimedLong = aimedLong || l.LongInputs > 0
	}
	fmt.Fprintf(b, "patterns seen: %s", strings.Join(short, ", "))
	if aimedLong {
		fmt.Fprintf(b, "; of three transactions: %s", strings.Join(long, ", "))
	}
	b.WriteString("\n")
}
