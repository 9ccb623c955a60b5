package report

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
)

// path is the way of a reduction.
type path struct {
	Words string
	// Line is the points of a polyline in a field of 300 by 60: attempts to the
	// right, characters up.
	Line  template.HTMLAttr
	Steps []string
}

const pathWidth, pathHeight = 300, 60

func pathOf(r *timeline.Reduction) *path {
	if r == nil || len(r.Path) == 0 {
		return nil
	}
	p := &path{Words: fmt.Sprintf("%d → %d characters, %d → %d lines; %d candidates ran, %d were kept%s.",
		r.CharactersBefore, r.CharactersAfter, r.LinesBefore, r.LinesAfter, r.Attempts, len(r.Path), minimal(r.Minimal))}
	at := func(attempt, characters int) string {
		return fmt.Sprintf("%.1f,%.1f", float64(attempt)/float64(max(r.Attempts, 1))*pathWidth,
			pathHeight-float64(characters)/float64(max(r.CharactersBefore, 1))*pathHeight)
	}
	before := r.CharactersBefore
	points := []string{at(0, before)}
	for _, s := range r.Path {
		points = append(points, at(s.Attempt, before), at(s.Attempt, s.Characters))
		before = s.Characters
		p.Steps = append(p.Steps, fmt.Sprintf("attempt %d, %s (%s): %d lines, %d characters", s.Attempt, s.Operation, s.Layer, s.Lines, s.Characters))
	}
	points = append(points, at(r.Attempts, before))
	p.Line = template.HTMLAttr(`points="` + strings.Join(points, " ") + `"`)
	return p
}

func minimal(yes bool) string {
	if yes {
		return "; nothing more can be taken away"
	}
	return ""
}
