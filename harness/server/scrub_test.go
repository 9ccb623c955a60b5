package server

import (
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
)

func TestPasswordsAreHiddenWhereTheyStandAsOne(t *testing.T) {
	for _, x := range []struct{ password, message, want string }{
		{"root", "Access denied for user 'root'@'localhost'", "Access denied for user 'root'@'localhost'"},
		{"root", "dial root:root@tcp(db:3306)/", "dial root:***@tcp(db:3306)/"},
		{"a", "cannot connect: a table is full", "cannot connect: a table is full"},
		{"p.w", "bad option password=p.w", "bad option password=***"},
		{"s3cret", "near 'IDENTIFIED BY 's3cret''", "near 'IDENTIFIED BY '***''"},
	} {
		cfg := mysql.NewConfig()
		cfg.Passwd = x.password
		if got := (&foreign{config: cfg}).scrub(errors.New(x.message)).Error(); got != x.want {
			t.Errorf("%s: %s, want %s", x.message, got, x.want)
		}
	}
}
