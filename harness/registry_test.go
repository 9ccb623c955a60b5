package harness

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestOpen(t *testing.T) {
	var opened string
	refuse := errors.New("no such server")
	Register("fake", func(_ context.Context, target string, _ Options) (Backend, error) {
		opened = target
		return nil, refuse
	}, nil)
	for _, target := range []string{"fake", "fake:1.2", "fake,snapshot=off", "fake:1.2,binlog=on"} {
		if _, err := Open(context.Background(), target, Options{}); !errors.Is(err, refuse) || opened != target {
			t.Errorf("%s: opened %q, error %v", target, opened, err)
		}
	}
	_, err := Open(context.Background(), "faker", Options{})
	if err == nil || !strings.Contains(err.Error(), "faker") || !strings.Contains(err.Error(), "fake,") {
		t.Errorf("an unknown target: %v; want its name and the known ones", err)
	}
	_, err = Open(context.Background(), "me:secret@tcp(h:1)/", Options{})
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a DSN without a driver: %v; want an error without the password", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a name registered twice")
		}
	}()
	Register("fake", nil, nil)
}

func TestIsDSN(t *testing.T) {
	for target, want := range map[string]bool{
		"embedded": false, "mysql:9.7,binlog=off": false, "mariadb": false,
		"root@unix(/run/s)/": true, "u:p@tcp(h:3306)/": true, "u@/": true, "tcp(h)/": true, "/": true,
	} {
		if isDSN(target) != want {
			t.Errorf("isDSN(%q) = %v", target, !want)
		}
	}
}
