package workload

// lane is one of the independent streams that an input is made of: a decision about
// the order leaves the rows as they are, and so on.
type lane uint8

const (
	stateLane lane = iota
	callLane
	inputLane
	orderLane
	numLanes
)

// source reads an input lane by lane: byte i belongs to lane i modulo numLanes. Behind
// the end all is zero, and zero is the simplest choice everywhere.
type source struct {
	data []byte
	at   [numLanes]int
}

func (s *source) byte(l lane) byte {
	i := s.at[l]*int(numLanes) + int(l)
	s.at[l]++
	if i >= len(s.data) {
		return 0
	}
	return s.data[i]
}

// below draws a number below n.
func (s *source) below(l lane, n int) int {
	if n <= 1 {
		return 0
	}
	if n <= 1<<8 {
		return int(s.byte(l)) % n
	}
	return (int(s.byte(l))<<8 | int(s.byte(l))) % n
}

// oneIn is true in one of n draws, never behind the end of the input.
func (s *source) oneIn(l lane, n int) bool { return s.below(l, n) == n-1 }
