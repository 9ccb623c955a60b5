package campaign

// Share is in how many of a campaign's cases something is so: in one of so many; 0: in none.
type Share int

// takes says that the case with a seed is one of them.
func (s Share) takes(seed uint64) bool { return s > 0 && seed%uint64(s) == 0 }

// None is the default, All as many as possible.
const (
	None Share = 0
	All  Share = 1
	// SomeEnds is what the ends of sessions cost little beside the other cases.
	SomeEnds Share = 64
	// SomeConstraints is the same of constraints: a case that is judged by promise takes as long as ten
	// or so that are not.
	SomeConstraints Share = 256
)
