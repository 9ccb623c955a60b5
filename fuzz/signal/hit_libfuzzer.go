//go:build libfuzzer

package signal

/*
#include <stdint.h>

// libFuzzer takes every array in this section for further coverage counters,
// and clears it before each input (FuzzerExtraCounters.cpp).
__attribute__((section("__libfuzzer_extra_counters"), used)) static uint8_t txnfuzz_signal[65536];

static void txnfuzz_count(uint32_t i) {
	if (txnfuzz_signal[i] != 255) txnfuzz_signal[i]++;
}
*/
import "C"

const counters = 65536

func count(i uint32) {
	last = i
	C.txnfuzz_count(C.uint32_t(i))
}
