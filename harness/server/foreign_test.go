package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/txnfuzz/txnfuzz/corpus"
	"github.com/txnfuzz/txnfuzz/harness"
	"github.com/txnfuzz/txnfuzz/oracle/history"
)

const secret = "s3cret/pa@ss:word"

// overTCP forwards a port to a socket: private servers have no port.
func overTCP(t *testing.T, socket string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("unix", socket)
			if err != nil {
				_ = from.Close()
				continue
			}
			go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
			go func() { _, _ = io.Copy(from, to); _ = from.Close() }()
		}
	}()
	return l.Addr().String()
}

func TestForeign(t *testing.T) {
	eachServer(t, func(t *testing.T, target string) {
		p := start(t, target)
		root := sideOf(t, p)
		socket := p.current.socket().path
		tcp := overTCP(t, socket)
		must(t, root, "CREATE USER u@localhost IDENTIFIED BY '"+secret+"'", "GRANT ALL ON `txnfuzz\\_%`.* TO u@localhost")

		forMonitor, tables := "PROCESS ON *.*", []string(nil)
		if p.server.DBMS == history.MySQL {
			forMonitor, tables = "SELECT ON performance_schema.data_lock_waits", []string{
				"SELECT ON performance_schema.data_locks", "SELECT ON performance_schema.threads"}
		}
		dsn := "u:" + secret + "@unix(" + socket + ")/"
		_, err := open(t, dsn)
		for _, want := range append(tables, forMonitor, "user u@localhost") {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("without the right to see lock waits, want %q: %v", want, err)
			}
		}
		if err != nil && strings.Contains(err.Error(), "CREATE") {
			t.Errorf("the user has CREATE: %v", err)
		}
		for _, g := range append(tables, forMonitor) {
			must(t, root, "GRANT "+g+" TO u@localhost")
		}
		for _, dsn := range []string{dsn, "u:" + secret + "@tcp(" + tcp + ")/", "u:" + secret + "@tcp(" + tcp + ")/mysql"} {
			b, err := open(t, dsn)
			if err != nil {
				t.Fatal(err)
			}
			if b.Server().DBMS != p.server.DBMS || b.Server().Version != p.server.Version {
				t.Errorf("%s %s, want %s %s", b.Server().DBMS, b.Server().Version, p.server.DBMS, p.server.Version)
			}
			if err := b.Alive(t.Context()); err != nil {
				t.Error(err)
			}
			prober, err := b.Prober(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := prober.Waiting(t.Context(), []uint64{connID(t, root)}); err != nil {
				t.Error(err)
			}
			if err := prober.Close(); err != nil {
				t.Error(err)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
		if left, err := root.query(t.Context(), "SHOW DATABASES LIKE 'txnfuzz%'"); err != nil || len(left) > 0 {
			t.Errorf("databases left: %q %v", left, err)
		}
		must(t, root, "REVOKE ALL ON `txnfuzz\\_%`.* FROM u@localhost", "GRANT CREATE, SELECT ON `txnfuzz\\_%`.* TO u@localhost")
		if _, err := open(t, dsn); err == nil || !strings.Contains(err.Error(), "DROP ON `txnfuzz\\_%`.*") {
			t.Errorf("without DROP: %v", err)
		}
		if left, err := root.query(t.Context(), "SHOW DATABASES LIKE 'txnfuzz%'"); err != nil || len(left) > 0 {
			t.Errorf("databases left: %q %v", left, err)
		}
		must(t, root, "GRANT DROP ON `txnfuzz\\_%`.* TO u@localhost")
		if _, err := open(t, dsn); err == nil || !strings.Contains(err.Error(), "INDEX, INSERT, UPDATE, DELETE, ALTER ON `txnfuzz\\_%`.*") && !strings.Contains(err.Error(), "INDEX, INSERT, UPDATE") {
			t.Errorf("with CREATE, DROP and SELECT only: %v", err)
		}
	})
}

// open opens a DSN and checks that no error tells the password.
func open(t *testing.T, dsn string) (harness.Backend, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var progress bytes.Buffer
	b, err := harness.Open(ctx, dsn, harness.Options{Progress: &progress})
	for _, text := range []string{fmt.Sprint(err), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err), progress.String()} {
		if strings.Contains(text, "s3cret") {
			t.Errorf("the password is in %q", text)
		}
	}
	return b, err
}

func TestNoErrorTellsThePassword(t *testing.T) {
	var targets []string
	if installed := installedTargets(t); len(installed) > 0 {
		s := start(t, installed[0]).current.socket().path
		targets = append(targets, "root:"+secret+"@unix("+s+")/", "nobody:s3cret@unix("+s+")/", "root:s3cret@unix("+s+")/?tls=true")
	}
	targets = append(targets,
		"u:s3cret@unix(/no/such/socket)/", "u:s3cret@tcp(127.0.0.1:1)/", "u:s3cret@tcp(127.0.0.1:1/", "u:s3cret@tcp(no-such-host.invalid:3306)/",
		"u:s3cret/@", "u:s3cret@/?timeout=s3cret", "u:s3cret@s3cret(x)/", "/u:s3cret@", "u:s3cret@tcp(localhost)/?tls=s3cret",
	)
	for i, dsn := range targets {
		if _, err := open(t, dsn); err == nil {
			t.Errorf("DSN %d opens", i)
		}
	}
}

func TestUnknownServerGetsTheRulesOfMySQL(t *testing.T) {
	for _, target := range installedTargets(t) {
		p := start(t, target)
		s := sideOf(t, p)
		// What decides is the server's answers, not its name.
		want := methodFor(p.server)
		if got := probe(t.Context(), s); got != want {
			t.Errorf("%s is asked by %s, want %s", target, got, want)
		}
	}
}

// encrypted are targets whose server makes its own certificate.
var encrypted = map[string]string{
	"mariadb:11.8": "mariadb:11.8,ssl=1",
	"mysql:9.7":    "mysql:9.7,tls_version=TLSv1.2,TLSv1.3,auto_generate_certs=ON",
}

// TestTLS runs a case as a user whom the server refuses without TLS.
func TestTLS(t *testing.T) {
	c, err := corpus.Parse("case", []byte(`
/* init */ CREATE TABLE t (a INT);
/* init */ INSERT INTO t VALUES (1);
/* tx1 */ BEGIN;
/* tx1 */ UPDATE t SET a = 2;
/* tx2 */ UPDATE t SET a = 3;
/* tx1 */ COMMIT;
/* tx2 */ SELECT * FROM t;
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range installedTargets(t) {
		if encrypted[target] == "" {
			continue
		}
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			p := start(t, encrypted[target])
			must(t, sideOf(t, p), "CREATE USER u@localhost IDENTIFIED BY '"+secret+"' REQUIRE SSL", "GRANT ALL ON *.* TO u@localhost")
			for _, at := range []string{"unix(" + p.current.socket().path + ")", "tcp(" + overTCP(t, p.current.socket().path) + ")"} {
				if _, err := open(t, "u:"+secret+"@"+at+"/"); err == nil {
					t.Errorf("%s without TLS: let in", at)
				}
				b, err := open(t, "u:"+secret+"@"+at+"/?tls=skip-verify")
				if err != nil {
					t.Fatalf("%s: %v", at, err)
				}
				pool, err := harness.NewPool(ctx, b, harness.PoolOptions{})
				if err != nil {
					t.Fatalf("%s: %v", at, err)
				}
				h, err := pool.Run(ctx, c, harness.At(corpus.RepeatableRead))
				if err != nil || h.End != history.Complete || len(h.Stmts) != 5 {
					t.Fatalf("%s: %+v %v", at, h, err)
				}
				if w := h.Stmts[2].Waits; len(w) != 1 || w[0].Kind != history.RowLock {
					t.Errorf("%s: waits %+v", at, w)
				}
				if got := h.Stmts[4].Result.Rows[0][0].Text; got != "3" {
					t.Errorf("%s: read %s", at, got)
				}
				if err := pool.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
