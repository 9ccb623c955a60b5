package export

import (
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus/protocol"
)

// TestPreparedIsNoText: a form that can only send text refuses a case whose statements were prepared.
func TestPreparedIsNoText(t *testing.T) {
	for _, p := range []protocol.Protocol{protocol.All(protocol.Prepare), protocol.Mixed(3), {}} {
		for _, form := range []string{"mtr", "isolationtester", "go", "two-terminals"} {
			tl := told(t)
			tl.Case.SetProtocol(p)
			_, err := Write(tl, form, Test)
			refused := err != nil && strings.Contains(err.Error(), errPrepared.Error())
			if want := !p.IsText() && (form == "mtr" || form == "isolationtester"); refused != want {
				t.Errorf("%s of protocol %s: %v", form, p, err)
			}
		}
	}
}
