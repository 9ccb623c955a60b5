package target

import (
	"testing"

	"github.com/txnfuzz/txnfuzz/harness"
)

func TestOnCommandLine(t *testing.T) {
	for _, c := range []struct{ build, target, want string }{
		{"", "mysql:9.7,binlog=off", "--target 'mysql:9.7,binlog=off'"},
		{"/opt/mysqld,share=/opt/share", "mysql", "--binary '/opt/mysqld,share=/opt/share' --target 'mysql'"},
		{"/opt/mysqld", Default, "--target '" + Default + "'"},
		{"/opt/mysqld", "u@tcp(h:3306)/", "--target 'u@tcp(h:3306)/'"},
	} {
		t.Setenv(harness.EnvBinary, c.build)
		if got := OnCommandLine(c.target); got != c.want {
			t.Errorf("with the build %q: %s, want %s", c.build, got, c.want)
		}
	}
}
