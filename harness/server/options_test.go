package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/harness"
)

// Options are part of what a target says of its server, also those that are not
// among the usual settings.
func TestOptionsAreSettings(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		p := start(t, target+",sql_mode=ANSI_QUOTES,STRICT_TRANS_TABLES,div_precision_increment=7,binlog_format=row,log_bin=1")
		got := p.Server().Settings
		if !strings.Contains(got["sql_mode"], "ANSI_QUOTES,STRICT_TRANS_TABLES") && !strings.Contains(got["sql_mode"], "STRICT_TRANS_TABLES,ANSI_QUOTES") ||
			got["div_precision_increment"] != "7" || got["binlog_format"] != "ROW" || got["log_bin"] != "ON" {
			t.Errorf("settings %v", got)
		}
	})
}

// A wrong option is a mistake in the target's name, told in one line.
func TestWrongOptions(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		for _, c := range [][2]string{
			{"no_such_variable=1", "option no_such_variable=1: the server knows no such variable"},
			{"sql_mode=NOPE", "option sql_mode=NOPE: the server refuses this value"},
			{"innodb_table_locks=banana", "option innodb_table_locks=banana: the server "},
			{"max_allowed_packet=1", "option max_allowed_packet=1: the server has made 1024 of it"},
			{"autocommit=0", "option autocommit=0: the rules cover ON only"},
		} {
			t.Run(c[0], func(t *testing.T) {
				t.Parallel()
				_, err := openPrivate(t.Context(), target+","+c[0], options(shortDir(t)))
				var name *harness.NameError
				if !errors.As(err, &name) || !strings.Contains(err.Error(), c[1]) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, want %q", err, c[1])
				}
			})
		}
	})
}

func TestSameSetting(t *testing.T) {
	for _, c := range []struct {
		want, is string
		same     bool
	}{
		{"1", "ON", true}, {"true", "ON", true}, {"off", "OFF", true}, {"0", "ON", false}, {"banana", "OFF", false},
		{"5", "5", true}, {"5", "6", false}, {"32M", "33554432", true}, {"row", "ROW", true},
		{"TRADITIONAL", "STRICT_TRANS_TABLES,TRADITIONAL", true},
	} {
		if got := sameSetting(c.want, c.is); got != c.same {
			t.Errorf("asked for %q, has %q: %v", c.want, c.is, got)
		}
	}
}
