package findings

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle"
)

func TestPresence(t *testing.T) {
	wrong := func(kind oracle.Kind, fingerprint string) oracle.Verdict {
		return oracle.Verdict{Outcome: oracle.Violation, Kind: kind, Fingerprint: fingerprint}
	}
	for _, x := range []struct {
		verdict     oracle.Verdict
		fingerprint string
		kind        oracle.Kind
		want        Presence
	}{
		{oracle.Verdict{Outcome: oracle.Unknown}, "", "", Untestable},
		{oracle.Verdict{Outcome: oracle.OK}, "", "", Absent},
		{wrong(oracle.ServerLog, "f"), "", "", Shows},
		{wrong(oracle.ServerLog, "f"), "f", oracle.ServerCrash, Shows},
		{wrong(oracle.ServerLog, "f"), "g", oracle.ServerLog, Shows},
		{wrong(oracle.ServerLog, "f"), "g", oracle.ServerCrash, Otherwise},
		{wrong(oracle.ServerLog, "f"), "g", "", Otherwise},
		{wrong(oracle.ServerLog, "f"), "", oracle.ServerLog, Shows},
		{wrong(oracle.ServerLog, "f"), "", oracle.ServerCrash, Otherwise},
		{wrong(oracle.ServerLog, ""), "", oracle.ServerCrash, Otherwise},
	} {
		if got := presence(&x.verdict, x.fingerprint, x.kind); got != x.want {
			t.Errorf("%+v for %q and %q: %s, want %s", x.verdict, x.fingerprint, x.kind, got, x.want)
		}
	}
}
