package mutate

// choices reads decisions from bytes. Every decision maps zero to its simplest
// outcome: the first of a list, false for an odds. The zero value yields the
// simplest outcome for ever.
type choices struct {
	// next yields the next byte.
	next func() byte
}

// on reads decisions from a lane of a source.
func on(src Source, l Lane) *choices {
	return &choices{next: func() byte { return src.Byte(l) }}
}

// window reads decisions from the next n bytes of a lane, and zeros behind
// them. What is decided in one window cannot shift what is decided in the
// next: a byte changed in one statement leaves the statements behind it alone.
func window(src Source, l Lane, n int) *choices {
	buf := src.Bytes(l, n)
	at := 0
	return &choices{next: func() byte {
		if at >= len(buf) {
			return 0
		}
		at++
		return buf[at-1]
	}}
}

// random reads decisions from a generator instead of an input.
func random(r *splitMix) *choices {
	return &choices{next: func() byte { return byte(r.next() >> 56) }}
}

// below returns a number in [0, n); n is at most 65,536. It consumes one byte
// for n up to 256, else two.
func (c *choices) below(n int) int {
	if n <= 1 {
		return 0
	}
	if n <= 256 {
		return int(c.next()) * n >> 8
	}
	hi := int(c.next())
	return (hi<<8 | int(c.next())) * n >> 16
}

// odds is true in about per256 of 256 cases, never for zero.
func (c *choices) odds(per256 int) bool { return int(c.next()) > 255-per256 }

// weighted is an entry of a table of alternatives; the first entry is the
// simplest.
type weighted[T any] struct {
	weight int
	value  T
}

// pick chooses from a table of alternatives by weight.
func pick[T any](c *choices, table []weighted[T]) T {
	total := 0
	for _, w := range table {
		total += w.weight
	}
	n := c.below(total)
	for _, w := range table {
		if n < w.weight {
			return w.value
		}
		n -= w.weight
	}
	return table[len(table)-1].value
}

// oneOf chooses from a list that is not empty.
func oneOf[T any](c *choices, list []T) T { return list[c.below(len(list))] }
