package telling

import (
	"bytes"
	"html/template"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle"
)

// Sight is an anomaly that a case shows, in all the places where it does.
type Sight struct {
	File    string
	Anomaly *oracle.Anomaly // as it shows in the first place
	// Where holds a line for each target, with its levels.
	Where []string
}

// Sights returns what the literature has names for, case by case, the gravest first.
func (m *Matrix) Sights() []Sight {
	var out []Sight
	for _, f := range m.Files {
		first := len(out)
		for _, target := range m.Targets {
			for _, r := range m.cells[[2]string{f, target}] {
				for k := range r.Anomaly {
					a := &r.Anomaly[k]
					i := slices.IndexFunc(out[first:], func(s Sight) bool { return s.Anomaly.Kind == a.Kind }) + first
					if i < first {
						out = append(out, Sight{File: f, Anomaly: a})
						i = len(out) - 1
					}
					out[i].Where = addPlace(out[i].Where, target, r.Level)
				}
			}
		}
	}
	return out
}

// Picture is the cycle as an inline drawing.
func (s *Sight) Picture() (template.HTML, error) {
	if s.Anomaly.Drawing == nil {
		return "", nil
	}
	var b bytes.Buffer
	err := s.Anomaly.Drawing.WriteSVG(&b)
	return template.HTML(b.String()), err // the drawing escapes what it writes
}
