package export

import (
	"fmt"
	"strings"
)

// howOften says in how many more runs a saved finding showed, and in which versions, as its header has it; "" if
// that says nothing.
func (s *script) howOften() string {
	often := s.rate()
	if versions, ok := s.Case.Get("versions"); ok {
		often = strings.TrimSpace(often + " By version: " + versions + ".")
	}
	return often
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
