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

// TestOfSeveral: which names are those of several servers of ours.
func TestOfSeveral(t *testing.T) {
	for name, want := range map[string]bool{
		"galera": true, "galera:11.8": true, "galera:11.8,snapshot=off": true, "galera,nodes=5": true, "mysql:9.7,replica=row": true,
		"postgres:18,standby=1": true, "mysql:9.7,binlog=off,group=3": true, "mysql:9.7": false, "mariadb:11.8,snapshot=off": false,
		"galera:secret@tcp(h:3306)/": false, "u@tcp(h:3306)/?replica=row": false, "mysql:9.7,group_concat_max_len=4": false,
	} {
		if got := OfSeveral(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for dsn, ok := range map[string]bool{"galera:secret@tcp(h:3306)/": true, "u@tcp(h:3306)/?replica=row": false} {
		if err := Check(dsn); (err == nil) != ok {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}
