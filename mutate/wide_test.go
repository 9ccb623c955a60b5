package mutate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
	"pgregory.net/rapid"
)

// What was stored before there were wide inputs goes on meaning the same cases, but for those
// that show a LIMIT without an order, or primary keys that move, since there are such.
func TestOtherInputsDecodeAsBefore(t *testing.T) {
	const want = "4ecdb860cde0788bc93be18a01dd806921c99229dff4925296b2189467073c2e"
	h := sha256.New()
	entries := published(t)
	for seed := range uint64(400) {
		o := Options{Levels: corpus.Levels, NumTx: 2 + int(seed%2), Tables: 1 + int(seed/2%2)}
		data := InputOf(seed, InputLen)
		if seed%5 == 0 {
			data = InputOf(seed, int(seed)*7)
		}
		from := entries
		if seed%3 == 0 {
			from = nil
		}
		for _, c := range FromInput(data, from, o) {
			h.Write([]byte(print(c)))
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("400 inputs decode to other cases than they did: digest %s, want %s", got, want)
	}
}

func TestWideInputsHaveAsManyTransactionsAsTheyAskFor(t *testing.T) {
	for seed := range uint64(200) {
		for n := 3; n <= MaxTx; n++ {
			data := WideInput(seed, n)
			if len(data) != WideLen || !bytes.Equal(Cut(append(bytes.Clone(data), 1, 2, 3)), data) {
				t.Fatalf("seed %d: %d bytes, want %d, and no more with effect", seed, len(data), WideLen)
			}
			for i, o := range []Options{{}, {Tables: 2, Levels: corpus.Levels, Orders: 3}} {
				for _, c := range FromInput(data, nil, o) {
					if got := len(c.Sessions()); got != n {
						t.Fatalf("seed %d: %d sessions, want %d\n%s", seed, got, n, print(c))
					}
					if err := checkCase(c, o.withDefaults().Levels); err != nil {
						t.Fatalf("seed %d, options %d: %v\n%s", seed, i, err, print(c))
					}
				}
			}
		}
	}
}

// All transactions of a wide input are on an equal footing: as long, as often in a
// conflict.
func TestTransactionsOfWideInputsAreAlike(t *testing.T) {
	const seeds = 1500
	var length, conflicts [MaxTx]int
	for seed := range uint64(seeds) {
		d := draftOf(FromInput(WideInput(seed, MaxTx), nil, Options{})[0])
		for i := range d.sessions {
			length[d.sessions[i].number-1] += len(d.sessions[i].stmts)
		}
		in := map[int]bool{}
		for _, p := range d.conflicting() {
			in[d.sessions[p.a.session].number-1], in[d.sessions[p.b.session].number-1] = true, true
		}
		for i := range in {
			conflicts[i]++
		}
	}
	for i := range MaxTx {
		if l := float64(length[i]) / float64(slices.Max(length[:])); l < 0.95 {
			t.Errorf("transaction %d is %.2f times as long as the longest", i+1, l)
		}
		if s := float64(conflicts[i]) / seeds; s < 0.9 {
			t.Errorf("transaction %d can conflict in %.0f %% of the cases", i+1, 100*s)
		}
	}
}

func TestLanesOfWideInputsAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := WideInput(rapid.Uint64().Draw(t, "seed"), MaxTx)
		for n := 0; blockAt(n) < InputLen; n++ { // no links and no conflict construction
			at := blockAt(n) + 1 + 3 + 4 + 8 + 8 + 1 + 2
			clear(data[at : at+widths[ConflictLane]])
		}
		clear(data[PlainLen:InputLen])
		before := Generate(NewBytes(data), Options{})
		k := rapid.IntRange(3, MaxTx).Draw(t, "transaction")
		lane, _ := wideLane(data, laneOfSession(k-1))
		copy(lane, InputOf(rapid.Uint64().Draw(t, "bytes"), len(lane)))
		after := Generate(NewBytes(data), Options{})
		for s := 1; s <= MaxTx; s++ {
			if s != k && sql(before, s) != sql(after, s) {
				t.Errorf("the lane of transaction %d changes transaction %d:\n%s\n%s", k, s, sql(before, s), sql(after, s))
			}
		}
	})
}

// A stored case keeps its transactions and their order where a wide input adds one.
func TestWideInputsAddToStoredCases(t *testing.T) {
	entries := published(t)
	added := 0
	for i, c := range entries {
		data := StoredInput(i, len(entries))
		data = append(data, WideInput(uint64(i), 3)[InputLen:]...)
		clear(data[WideLen-wideOrderLen:]) // its own order
		got := FromInput(data, entries, Options{Levels: corpus.Levels})[0]
		if len(c.Sessions()) < 2 || len(got.Sessions()) <= len(c.Sessions()) {
			continue
		}
		added++
		kept := got.Clone()
		kept.Steps = slices.DeleteFunc(kept.Steps, func(l corpus.Line) bool { return !slices.Contains(c.Sessions(), l.Session) })
		for _, s := range c.Sessions() {
			if want, is := sql(c, s), sql(kept, s); len(is) < len(want) || is[:len(want)] != want {
				t.Errorf("session %d of %d was\n%s\nis\n%s", s, i, want, is)
			}
		}
	}
	if added < len(entries)/3 {
		t.Errorf("%d of %d stored cases got a transaction", added, len(entries))
	}
}
