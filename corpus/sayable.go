package corpus

// Sayable returns a case without the statements for which a dialect has no words, c itself if it has words for all.
// It returns nil if one of the set-up is among them, or if no session has anything left to say.
func Sayable(c *Case, d Dialect) *Case {
	for _, l := range c.Init {
		if _, err := Format(l.Stmt, d); err != nil {
			return nil
		}
	}
	var steps []Line
	for _, l := range c.Steps {
		if _, err := Format(l.Stmt, d); err == nil {
			steps = append(steps, l)
		}
	}
	switch len(steps) {
	case len(c.Steps):
		return c
	case 0:
		return nil
	}
	out := *c
	out.Steps = steps
	return &out
}
