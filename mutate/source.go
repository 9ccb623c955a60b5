package mutate

import (
	"slices"

	fuzz "github.com/AdaLogics/go-fuzz-headers"
)

// Lane is one of the independent streams that an input is made of. A decision
// about the schema reads the schema lane only, and so on, so that changing one
// kind of decision leaves the others as they are.
type Lane uint8

// The lanes of an input.
const (
	// PlanLane decides between a fresh case and a stored one, and counts.
	PlanLane Lane = iota
	SchemaLane
	RowsLane
	Tx1Lane
	Tx2Lane
	Tx3Lane
	OrderLane
	ConflictLane
	LevelLane
	// EditLane decides on structural mutations.
	EditLane
	// FeatureLane decides on savepoints, REPLACE, SKIP LOCKED and the like. It lies
	// behind the blocks of the others, so that an input that ends with them has
	// none of that, and is what it was before there were any.
	FeatureLane
	// Tx4Lane is of wide inputs only.
	Tx4Lane
	numLanes
)

// laneOfSession is the lane of the i-th transaction.
func laneOfSession(i int) Lane {
	if i == 3 {
		return Tx4Lane
	}
	return Tx1Lane + Lane(i)
}

// widths gives the bytes that each lane owns in every block of blockLen bytes.
// They follow what a typical case reads, so that few bytes of an input are
// without effect.
var widths = [FeatureLane]int{
	PlanLane:     1,
	SchemaLane:   3,
	RowsLane:     4,
	Tx1Lane:      8,
	Tx2Lane:      8,
	Tx3Lane:      1,
	OrderLane:    2,
	ConflictLane: 2,
	LevelLane:    1,
	EditLane:     2,
}

const (
	blockLen = 32
	// PlainLen is where the feature lane begins, featureLen its length. Behind
	// it the blocks of the other lanes go on.
	PlainLen   = 30 * blockLen
	featureLen = 64
)

// InputLen is the length in bytes of an input that no lane of a case with
// default limits runs out of. Longer inputs are legal; shorter ones leave the
// rest of the case at its simplest.
const InputLen = PlainLen + featureLen

// blockAt returns where the n-th block of an input begins.
func blockAt(n int) int {
	if at := n * blockLen; at < PlainLen {
		return at
	}
	return n*blockLen + featureLen
}

// Source is a stream of choices, cut into lanes. It never fails: an exhausted
// lane yields zero, and zero stands for the simplest choice everywhere, so a
// minimiser that shortens or zeroes bytes simplifies the case.
type Source interface {
	// Byte consumes the next byte of a lane.
	Byte(Lane) byte
	// Bytes consumes the next n bytes of a lane, zeros behind its end. The
	// result is the caller's to read only.
	Bytes(l Lane, n int) []byte
	// Input returns the whole input that the choices come from.
	Input() []byte
}

// bytesSource decodes an input lane by lane. A lane is copied out of the input
// when it is first read.
type bytesSource struct {
	data  []byte
	lanes [numLanes]*fuzz.ConsumeFuzzer
}

// NewBytes returns a source that decodes an input; data must not change while
// the source is in use.
func NewBytes(data []byte) Source { return &bytesSource{data: data} }

// NewSeeded returns the source of InputOf(seed, InputLen).
func NewSeeded(seed uint64) Source { return NewBytes(InputOf(seed, InputLen)) }

func (s *bytesSource) Input() []byte { return s.data }

func (s *bytesSource) Byte(l Lane) byte {
	b, err := s.lane(l).GetByte()
	if err != nil {
		return 0
	}
	return b
}

func (s *bytesSource) Bytes(l Lane, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = s.Byte(l)
	}
	return out
}

func (s *bytesSource) lane(l Lane) *fuzz.ConsumeFuzzer {
	if s.lanes[l] == nil {
		s.lanes[l] = fuzz.NewConsumer(laneOf(s.data, l))
	}
	return s.lanes[l]
}

// laneOf copies the bytes of one lane out of an input.
func laneOf(data []byte, l Lane) []byte {
	switch {
	case isWide(data):
		if lane, ok := wideLane(data, l); ok {
			return slices.Clone(lane)
		}
		data = data[:InputLen]
	case l == Tx4Lane:
		return nil
	}
	if l == FeatureLane {
		return slices.Clone(data[min(PlainLen, len(data)):min(InputLen, len(data))])
	}
	start := 0
	for _, w := range widths[:l] {
		start += w
	}
	w := widths[l]
	out := make([]byte, 0, (len(data)/blockLen+1)*w)
	for n := 0; blockAt(n)+start < len(data); n++ {
		at := blockAt(n) + start
		out = append(out, data[at:min(at+w, len(data))]...)
	}
	return out
}

// interleave is the inverse of laneOf for inputs that are not wide: it lays lanes out as one input. Lanes
// that are shorter than the longest one are filled up with zeros, and so is the
// feature lane where one reaches behind it.
func interleave(lanes [numLanes][]byte) []byte {
	blocks := 0
	for l, w := range widths {
		blocks = max(blocks, (len(lanes[l])+w-1)/w)
	}
	n := 0
	if blocks > 0 {
		n = blockAt(blocks-1) + blockLen
	}
	if f := len(lanes[FeatureLane]); f > 0 {
		n = max(n, PlainLen+f)
	}
	out := make([]byte, n)
	start := 0
	for l, w := range widths {
		for i, v := range lanes[l] {
			out[blockAt(i/w)+start+i%w] = v
		}
		start += w
	}
	if n > PlainLen {
		copy(out[PlainLen:min(InputLen, n)], lanes[FeatureLane])
	}
	return out
}

// seedsPerSchema is how many consecutive seeds share the bytes of the schema
// lane. Making a table costs up to ten times what running a case costs, and
// servers keep tables for reuse.
const seedsPerSchema = 16

// InputOf returns the input of n bytes that belongs to a seed. A seeded run
// decodes it as any other input, so whatever it finds has an input. Seeds that
// are equal when divided by 16 give cases over the same tables.
func InputOf(seed uint64, n int) []byte {
	out := make([]byte, n)
	r := splitMix(seed)
	for i := 0; i < n; i += 8 {
		v := r.next()
		for j := i; j < min(i+8, n); j++ {
			out[j] = byte(v)
			v >>= 8
		}
	}
	schema := splitMix(^(seed / seedsPerSchema))
	for b := 0; blockAt(b) < n; b++ {
		at := blockAt(b) + widths[PlanLane]
		for j := at; j < min(at+widths[SchemaLane], n); j++ {
			out[j] = byte(schema.next() >> 56)
		}
	}
	return out
}

// splitMix is Steele, Lea and Flood's SplitMix64 (OOPSLA 2014): its whole
// state is one word, so a few bytes of an input can seed it.
type splitMix uint64

func (r *splitMix) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
