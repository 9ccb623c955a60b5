package isolationspec

// interleavings counts the orders in which the sessions can run their steps; beyond maxPermutations it stops.
func interleavings(sessions []Session) int {
	n, total := 1, 0
	for _, s := range sessions {
		for i := range s.Steps {
			total++
			n = n * total / (i + 1)
			if n > maxPermutations {
				return n
			}
		}
	}
	return n
}

// allInterleavings returns them in the tester's order: the steps of the first session come as early as they can.
func allInterleavings(sessions []Session) []Permutation {
	var out []Permutation
	at := make([]int, len(sessions))
	var extend func(Permutation)
	extend = func(so Permutation) {
		done := true
		for i, s := range sessions {
			if at[i] == len(s.Steps) {
				continue
			}
			done = false
			l := Launch{Name: s.Steps[at[i]].Name, Session: i, Step: at[i]}
			at[i]++
			extend(append(so[:len(so):len(so)], l))
			at[i]--
		}
		if done {
			out = append(out, so)
		}
	}
	extend(nil)
	return out
}
