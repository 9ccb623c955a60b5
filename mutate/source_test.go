package mutate

import (
	"bytes"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"pgregory.net/rapid"
)

func lanesOf(data []byte) (out [numLanes][]byte) {
	for l := range out {
		out[l] = laneOf(data, Lane(l))
	}
	return out
}

func TestBlockIsTheSumOfTheLanes(t *testing.T) {
	sum := 0
	for l, w := range widths { // the feature lane lies behind the blocks
		if w <= 0 {
			t.Errorf("lane %d has no bytes", l)
		}
		sum += w
	}
	if sum != blockLen {
		t.Errorf("the lanes take %d bytes of a block of %d", sum, blockLen)
	}
}

func TestInterleaveIsTheInverseOfLaneOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "data")
		whole := append(bytes.Clone(data), make([]byte, (blockLen-len(data)%blockLen)%blockLen)...)
		if got := interleave(lanesOf(whole)); !bytes.Equal(got, whole) {
			t.Errorf("got %x, want %x", got, whole)
		}
	})
}

func TestExhaustedLaneYieldsZero(t *testing.T) {
	src := NewBytes(bytes.Repeat([]byte{7}, blockLen))
	for range widths[OrderLane] {
		if b := src.Byte(OrderLane); b != 7 {
			t.Fatalf("got %d inside the input", b)
		}
	}
	if b := src.Byte(OrderLane); b != 0 {
		t.Errorf("got %d behind the end", b)
	}
	if b := src.Bytes(SchemaLane, 5); !bytes.Equal(b, []byte{7, 7, 7, 0, 0}) {
		t.Errorf("got %v across the end", b)
	}
}

func TestSeededSourceDecodesItsInput(t *testing.T) {
	for seed := range uint64(50) {
		src := NewSeeded(seed)
		want := InputOf(seed, InputLen)
		if !bytes.Equal(src.Input(), want) {
			t.Fatalf("seed %d: the input is not InputOf", seed)
		}
		a, b := Generate(src, Options{}), Generate(NewBytes(want), Options{})
		if print(a) != print(b) {
			t.Fatalf("seed %d: seeded\n%s\nfrom its input\n%s", seed, print(a), print(b))
		}
	}
	if bytes.Equal(InputOf(1, 64), InputOf(2, 64)) {
		t.Error("two seeds give one input")
	}
	if !bytes.Equal(InputOf(1, 61), InputOf(1, 64)[:61]) {
		t.Error("a shorter input is not a prefix of a longer one")
	}
}

func TestNeighbouringSeedsShareTables(t *testing.T) {
	schema := parts[SchemaLane]
	definitions := map[string]bool{}
	for seed := range uint64(50 * seedsPerSchema) {
		c, first := Generate(NewSeeded(seed), Options{}), Generate(NewSeeded(seed-seed%seedsPerSchema), Options{})
		if schema(c) != schema(first) {
			t.Fatalf("seed %d: %s, seed %d: %s", seed, schema(c), seed-seed%seedsPerSchema, schema(first))
		}
		definitions[schema(c)] = true
	}
	if len(definitions) < 40 {
		t.Errorf("%d definitions in 50 groups of seeds", len(definitions))
	}
}

// part is what one lane decides of a case.
var parts = map[Lane]func(*corpus.Case) string{
	SchemaLane: func(c *corpus.Case) string { return corpus.SQL(c.Init[0].Stmt, corpus.Text) },
	RowsLane:   setUp,
	Tx1Lane:    func(c *corpus.Case) string { return sql(c, 1) },
	Tx2Lane:    func(c *corpus.Case) string { return sql(c, 2) },
	LevelLane: func(c *corpus.Case) string {
		l, _ := c.Get("level")
		return l
	},
}

// dependsOn lists the lanes that the part of a lane reads, directly or through
// the tables that its statements are made for.
var dependsOn = map[Lane][]Lane{
	SchemaLane: {SchemaLane},
	RowsLane:   {SchemaLane, RowsLane},
	Tx1Lane:    {SchemaLane, RowsLane, Tx1Lane, ConflictLane},
	Tx2Lane:    {SchemaLane, RowsLane, Tx2Lane, ConflictLane},
	LevelLane:  {LevelLane},
}

// Links, conflict construction and features carry parts of one transaction into
// the other, so their lanes are left out here (all zero: none of them happens).
func TestLanesAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lanes := lanesOf(InputOf(rapid.Uint64().Draw(t, "seed"), InputLen))
		lanes[ConflictLane], lanes[FeatureLane] = nil, nil
		changed := Lane(rapid.IntRange(0, int(numLanes)-1).Draw(t, "lane"))
		if changed == ConflictLane || changed == FeatureLane {
			changed = OrderLane
		}
		before := Generate(NewBytes(interleave(lanes)), Options{})
		switch rapid.IntRange(0, 2).Draw(t, "change") {
		case 0: // other bytes
			lanes[changed] = InputOf(rapid.Uint64().Draw(t, "bytes"), len(lanes[changed]))
		case 1: // more bytes
			lanes[changed] = append(lanes[changed], InputOf(1, rapid.IntRange(1, 100).Draw(t, "more"))...)
		case 2: // fewer bytes
			lanes[changed] = lanes[changed][:len(lanes[changed])/2]
		}
		after := Generate(NewBytes(interleave(lanes)), Options{})
		for l, part := range parts {
			depends := false
			for _, on := range dependsOn[l] {
				depends = depends || on == changed
			}
			if !depends && part(before) != part(after) {
				t.Errorf("lane %d changed what lane %d decides:\n%s\n%s", changed, l, part(before), part(after))
			}
		}
	})
}

func TestStatementsDoNotShiftEachOther(t *testing.T) {
	lanes := lanesOf(InputOf(3, InputLen))
	lanes[ConflictLane], lanes[FeatureLane] = nil, nil
	// Ten statements; the second one changes.
	lanes[Tx1Lane] = InputOf(9, len(lanes[Tx1Lane]))
	copy(lanes[Tx1Lane], []byte{255, 0, 0, 0, 0, 0, 0, 0})
	before := Generate(NewBytes(interleave(lanes)), Options{})
	copy(lanes[Tx1Lane][headBytes+statementBytes:], InputOf(4711, statementBytes))
	after := Generate(NewBytes(interleave(lanes)), Options{})
	var a, b []string
	for i, c := range []*corpus.Case{before, after} {
		for _, l := range c.Steps {
			if l.Session == 1 {
				*[]*[]string{&a, &b}[i] = append(*[]*[]string{&a, &b}[i], corpus.SQL(l.Stmt, corpus.Text))
			}
		}
	}
	if len(a) != 12 || len(b) != 12 {
		t.Fatalf("want 10 statements and the frame, got %d and %d", len(a), len(b))
	}
	for i := range a {
		if (a[i] == b[i]) == (i == 2) {
			t.Errorf("statement %d: %s | %s", i, a[i], b[i])
		}
	}
}
