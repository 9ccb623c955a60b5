package mutate

// StoredInput returns an input of InputLen bytes that leaves the i-th of n stored
// cases as it is: the lanes that decide on changes hold zeros. The others, which a
// stored case does not read, are drawn as for a seed, so that an input which grows
// out of this one by a change of the plan is no plainer than any other. A short
// input would be: bytes that are not there read as zero.
func StoredInput(i, n int) []byte {
	data := InputOf(uint64(i)*seedsPerSchema, InputLen)
	start := 0
	for l, w := range widths {
		switch Lane(l) {
		case PlanLane, OrderLane, ConflictLane, LevelLane, EditLane:
			for b := 0; blockAt(b) < len(data); b++ {
				clear(data[blockAt(b)+start : min(blockAt(b)+start+w, len(data))])
			}
		}
		start += w
	}
	clear(data[PlainLen:])
	// The first byte of the plan says "a stored one", the second which.
	data[0] = 0xff
	data[blockLen] = byte((i*256 + n - 1) / n)
	return data
}
