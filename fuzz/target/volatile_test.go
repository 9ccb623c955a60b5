package target

import "testing"

// TestVolatile: what replicas say of the same cause is told once.
func TestVolatile(t *testing.T) {
	const a = "it stops with error 1062: Could not execute Update_rows event on table txnfuzz_12137_fab70759_78.t; Duplicate entry '2' for key 't.a'"
	const b = "it stops with error 1062: Could not execute Update_rows event on table txnfuzz_1_a5b82ef7_7.t; Duplicate entry '33' for key 't.b'"
	if volatile(a) != volatile(b) {
		t.Errorf("%s\n%s", volatile(a), volatile(b))
	}
	if other := "it stops with error 1032: Could not execute Update_rows event on table t; Can't find record in 't'"; volatile(a) == volatile(other) {
		t.Error("causes that differ are told as one")
	}
}
