package rules

// Dimensions is a set of dimensions.
type Dimensions uint64

// The table's dimensions fit into the set.
const _ = Dimensions(1) << (numDimensions - 1)

// Add puts a dimension into the set.
func (s *Dimensions) Add(d Dimension) { *s |= 1 << d }

// Consulted holds the dimensions that a replay looked at, by level.
type Consulted [len(levelIndex)]Dimensions

// Differ returns the dimensions in which two profiles differ, by level.
func (p *Profile) Differ(q *Profile) Consulted {
	var out Consulted
	for l := range p.sets {
		if p.sets[l] == q.sets[l] {
			continue
		}
		for d := range p.sets[l] {
			if p.sets[l][d] != q.sets[l][d] {
				out[l].Add(Dimension(d))
			}
		}
	}
	return out
}

// Meets reports whether a dimension is in both at the same level.
func (a *Consulted) Meets(b *Consulted) bool {
	for l := range a {
		if a[l]&b[l] != 0 {
			return true
		}
	}
	return false
}
