package reduce

// deltaDebug is ddmin over all lines. The expected number of attempts is
// O(k·log n) for k lines that have to stay of n, O(n²) at worst.
func (r *reducer) deltaDebug() error {
	for parts := 2; ; {
		n := len(r.best.init) + len(r.best.steps)
		if n < 2 {
			return nil
		}
		parts = min(parts, n)
		kept, err := r.complement(n, parts)
		switch {
		case err != nil:
			return err
		case kept:
			parts = max(parts-1, 2)
		case parts == n:
			return nil
		default:
			parts *= 2
		}
	}
}

// complement tries to delete one of so many parts of n lines.
func (r *reducer) complement(n, parts int) (bool, error) {
	at := len(r.best.init)
	for p := parts - 1; p >= 0; p-- {
		init, steps := map[int]bool{}, map[int]bool{}
		for i := p * n / parts; i < (p+1)*n/parts; i++ {
			if i < at {
				init[i] = true
			} else {
				steps[i-at] = true
			}
		}
		d := r.best
		kept, err := r.attempt(candidate{armRun, "", func() *draft { return d.without(init, steps) }})
		if err != nil || kept {
			return kept, err
		}
	}
	return false, nil
}
