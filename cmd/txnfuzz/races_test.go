package main

import (
	"strings"
	"testing"
)

// TestRacesRefusesPreparedCase: what is held is sent as text, so a case that is sent otherwise is refused before a server
// is started: there is none of this name.
func TestRacesRefusesPreparedCase(t *testing.T) {
	file := writeFile(t, "case.sql", "-- protocol: execute\n/* init */ CREATE TABLE t (a INT);\n/* tx1 */ SELECT * FROM t;\n")
	out := txnfuzz(t, "run", "--races", "--target", "mysql:0.1", file)
	if out.code != exitUsage || !strings.Contains(out.stderr, "case.sql: its statements are sent by protocol execute") {
		t.Errorf("%+v", out)
	}
}
