package corpus

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
)

func TestProtocolOfCase(t *testing.T) {
	const body = "\n/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT * FROM t;\n"
	c := parseCase(t, "-- protocol: mixed 9\n-- level: RC\n"+body)
	if c.Protocol() != protocol.Mixed(9) {
		t.Errorf("it is read as %s", c.Protocol())
	}
	plain := parseCase(t, "-- level: RC\n"+body)
	if !plain.Protocol().IsText() {
		t.Errorf("without a line it is %s", plain.Protocol())
	}
	shared := *plain
	shared.SetProtocol(protocol.All(protocol.Prepare))
	if got := string(Print(&shared, Text)); !strings.Contains(got, "-- protocol: prepare\n") || !plain.Protocol().IsText() {
		t.Errorf("%s\nand the case that it shares its header with is %s", got, plain.Protocol())
	}
	shared.SetProtocol(protocol.Protocol{})
	if got := string(Print(&shared, Text)); strings.Contains(got, "protocol") {
		t.Errorf("text takes no line:\n%s", got)
	}
	const want = `x:1:1: header protocol: "binary": want text, prepare, execute, mixed, or mixed and a seed, as in mixed 42`
	if _, err := Parse("x", []byte("-- protocol: binary\n"+body)); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
