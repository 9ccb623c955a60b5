package export

import (
	"fmt"
	"strings"

	"github.com/txnfuzz/txnfuzz/fuzz/timeline"
)

// howOften says in how many more runs a saved finding showed, in which versions, and with which commits it came and went,
// as its header has it; "" if that says nothing.
func (s *script) howOften(code func(string) string) string {
	often := s.rate()
	for _, told := range timeline.Bisected(s.Case, code) {
		often += " " + told
	}
	return strings.TrimSpace(often)
}

func (s *script) rate() string {
	rate, _ := s.Case.Get("reproduced")
	var n, of int
	switch _, err := fmt.Sscanf(rate, "%d/%d", &n, &of); {
	case err == nil && n == 0:
		return fmt.Sprintf("It was seen once, and in none of %d more runs.", of)
	case err == nil:
		return fmt.Sprintf("It showed in %d of %d more runs.", n, of)
	case rate != "":
		return "It was seen once, and has not been run again: do that before you report it (txnfuzz reduce)."
	}
	return ""
}
