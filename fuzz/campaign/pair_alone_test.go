package campaign

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// libFuzzer cuts inputs at the length that it is given: no lane of a wide one may fall
// behind it.
func TestAloneLibFuzzerKeepsWholeInputs(t *testing.T) {
	script, err := os.ReadFile("../../scripts/oss-fuzz/build.sh")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("max_len = %d\\n", MaxInput); !strings.Contains(string(script), want) {
		t.Errorf("scripts/oss-fuzz/build.sh does not say %q for fuzz_txn_pair", want)
	}
}
