package history

import "testing"

// A server's error is told without the name of the database that the case ran in.
func TestErrorString(t *testing.T) {
	for _, x := range []struct{ message, want string }{
		{"BIGINT value is out of range in '`txnfuzz_8332_a3e62ba8_11`.`t`.`b` * 4'", "error 1 (BIGINT value is out of range in '`t`.`b` * 4')"},
		{"Table 'txnfuzz_1_2_3.t' doesn't exist", "error 1 (Table 't' doesn't exist)"},
		{"Got error 1 from\n  table txnfuzz_1_2_3/t", "error 1 (Got error 1 from table t)"},
		{"Unknown database 'txnfuzz_1_2_3'", "error 1 (Unknown database 'test')"},
		{"Table 'shop.t' doesn't exist", "error 1 (Table 'shop.t' doesn't exist)"},
	} {
		if got := (&Error{Code: 1, Message: x.message}).String(); got != x.want {
			t.Errorf("%q\nwant %q", got, x.want)
		}
	}
}
