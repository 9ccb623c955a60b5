package load

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/txnfuzz/txnfuzz/oracle/kv"
)

// transfer is what a transaction adds to each account.
type transfer map[kv.Value]kv.Value

// mostUnknown bounds the transfers without a known outcome among which a choice is
// looked for. Each client leaves one a kill, and a slow server may be killed three times
// in an epoch. A choice among 36 costs 2^18 sums in memory, less than a second.
const mostUnknown = 36

// reaches tells whether some choice of transfers adds up to what is missing. Of n it
// tries 2^(n/2) sums of one half, and looks each sum of the other half up among them.
func reaches(missing map[kv.Value]kv.Value, all []transfer) bool {
	accounts := map[kv.Value]bool{}
	for k := range missing {
		accounts[k] = true
	}
	for _, t := range all {
		for k := range t {
			accounts[k] = true
		}
	}
	keys := slices.Sorted(maps.Keys(accounts))
	half := len(all) / 2
	sums := map[string]bool{}
	eachSum(keys, all[:half], func(sum []int64) bool {
		sums[spell(sum)] = true
		return true
	})
	rest, found := make([]int64, len(keys)), false
	eachSum(keys, all[half:], func(sum []int64) bool {
		for i, k := range keys {
			rest[i] = int64(missing[k]) - sum[i]
		}
		found = sums[spell(rest)]
		return !found
	})
	return found
}

// eachSum gives the sum of every choice, by account, until told to stop. From one choice
// to the next a single transfer comes or goes.
func eachSum(keys []kv.Value, of []transfer, use func([]int64) bool) {
	sum, in := make([]int64, len(keys)), make([]bool, len(of))
	for n := 1; use(sum) && n < 1<<len(of); n++ {
		i := 0
		for n>>i&1 == 0 {
			i++
		}
		sign := int64(1)
		if in[i] {
			sign = -1
		}
		in[i] = !in[i]
		for at, k := range keys {
			sum[at] += sign * int64(of[i][k])
		}
	}
}

func spell(sum []int64) string {
	b := make([]byte, 0, 8*len(sum))
	for _, x := range sum {
		b = binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return string(b)
}
