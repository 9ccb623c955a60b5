package findings

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/oracle"
	"github.com/txnfuzz/txnfuzz/oracle/history"
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

func TestUnread(t *testing.T) {
	for _, x := range []struct {
		dbms history.DBMS
		err  *history.Error
		want string
	}{
		{history.PostgreSQL, nil, ""},
		{history.PostgreSQL, &history.Error{Code: 42601, State: "42601", Message: "syntax error at\nor near \"MERGE\""},
			`it does not know step 2: error 42601 (syntax error at or near "MERGE")`},
		{history.PostgreSQL, &history.Error{State: "0A000", Message: "no"}, "it does not know step 2: error 0A000 (no)"},
		{history.PostgreSQL, &history.Error{Code: 40001, State: "40001"}, ""},
		{history.MariaDB, &history.Error{Code: 1064, State: "42000", Message: "no"}, "it does not know step 2: error 1064 (no)"},
		{history.MySQL, &history.Error{Code: 1213, State: "40001"}, ""},
		{history.TiDB, &history.Error{Code: 1235, State: "42000", Message: "no"}, "it does not know step 2: error 1235 (no)"},
	} {
		h := history.History{Server: history.Server{DBMS: x.dbms}, Stmts: []history.Stmt{{Line: 0}, {Line: 1, Result: history.Result{Err: x.err}}}}
		if got := unread(&h); got != x.want {
			t.Errorf("%s %+v: %q, want %q", x.dbms, x.err, got, x.want)
		}
	}
}
