package mutate

// StoredInput returns an input of InputLen bytes that leaves the i-th of n stored
// cases as it is: the lanes that decide on changes hold zeros. The other lanes,
// which a stored case does not read, are random, as in the input of a seed. If they
// were left out they would read as zeros, and whatever a fuzzer makes of this input,
// once it changes the choice of the case, would be plainer than other cases.
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
